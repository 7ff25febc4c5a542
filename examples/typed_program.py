"""A typed program: `mypy --strict` accepts it against the stubs of the package."""

import sys

import numpy

import rana


def show(at: rana.Progress) -> None:
    """Tells where the learning is."""
    print(f"\r{at}", end="", file=sys.stderr)


def main(out: str) -> None:
    """Learns from the graph that comes with rana, and completes a relation that was left out of it."""
    graph: rana.Graph = rana.Graph.umls()
    predictor = rana.learn(graph, out, leave_out=["causes"], progress=show)
    pairs = [
        ("bacterium", "pathologic_function"),
        ("fungus", "disease_or_syndrome"),
        ("antibiotic", "congenital_abnormality"),
        ("enzyme", "neoplastic_process"),
        ("food", "acquired_abnormality"),
    ]
    causes: rana.Relation = predictor.learn("causes", pairs)
    try:
        answers: rana.Table = causes.complete(["virus", "alga"], k=3)
    except rana.UnknownEntityError as error:
        sys.exit(f"{error.name}: did you mean {error.suggestions}?")
    for row in answers.to_pylist():
        why: rana.Explanation = causes.explain(row["head"], row["tail"])
        print(f"{row['head']} causes {row['tail']} ({row['confidence']:.0%}): {why.reasons[0]}")
    vectors = numpy.asarray(predictor.embeddings().entities)
    print(f"{vectors.shape[0]} vectors of {vectors.shape[1]} numbers")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "learned-umls")
