"""Learning, completing, explaining, and what is refused."""

import concurrent.futures
import json
import math
import pathlib
import pickle
import shutil
import subprocess

import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import rana
from conftest import FIVE

COLUMNS = ["head", "relation", "tail", "rank", "score", "confidence", "known", "head_label", "tail_label"]


def test_five_pairs_complete_a_relation(predictor: rana.Predictor) -> None:
    causes = predictor.learn("causes", FIVE)
    assert causes.name == "causes" and causes.support == FIVE and causes.note is None
    table = causes.complete(["virus", "alga"], k=3, reasons=True)
    assert table.columns == [*COLUMNS, "reasons"] and len(table) == 6
    first = table[0]
    assert (first["head"], first["relation"], first["rank"]) == ("virus", "causes", 1)
    assert 0 <= first["confidence"] <= 1 and math.isfinite(first["score"]) and first["reasons"]
    assert table.column("rank") == [1, 2, 3, 1, 2, 3]
    assert len(causes.complete("virus", k=1)) == 1
    heads = {row["head"] for row in causes.complete(k=1).to_pylist()}
    assert len(heads) > 10 and heads <= set(causes.plausible_heads())


def test_answers_are_tables_of_any_library(predictor: rana.Predictor) -> None:
    table = predictor.learn("causes", FIVE).complete(["virus"], k=4)
    arrow = pyarrow.table(table)
    assert arrow.num_rows == 4 and arrow.column_names == COLUMNS
    assert polars.DataFrame(table).to_dicts() == arrow.to_pylist() == table.to_pylist()
    assert list(pandas.DataFrame.from_arrow(table)["tail"]) == table.column("tail")


def test_heads_and_pairs_come_from_tables(predictor: rana.Predictor) -> None:
    causes = predictor.learn("causes", FIVE)
    expected = causes.complete(["virus", "alga"]).to_pylist()
    assert causes.complete(polars.DataFrame({"head": ["virus", "alga"], "n": [1, 2]})).to_pylist() == expected
    assert causes.complete(pyarrow.table({"any": ["virus", "alga"]})).to_pylist() == expected
    pairs = pyarrow.table({"tail": [tail for _, tail in FIVE], "head": [head for head, _ in FIVE]})
    assert predictor.learn("causes", pairs).complete(["virus", "alga"]).to_pylist() == expected


def test_the_command_gives_the_same_answers(predictor: rana.Predictor, tmp_path: pathlib.Path) -> None:
    (tmp_path / "pairs.tsv").write_text("\n".join("\t".join(pair) for pair in FIVE))
    out = tmp_path / "answers.parquet"
    command = ["rana", "complete", predictor.path, "--relation", "causes", "--support", tmp_path / "pairs.tsv"]
    subprocess.run([*command, "--plausible", "--top", "5", "--out", out, "--quiet"], check=True)
    answers = pyarrow.table(predictor.learn("causes", FIVE).complete(k=5))
    expected = pyarrow.parquet.read_table(out)
    assert answers.num_rows > 100
    assert answers.select(expected.column_names).cast(expected.schema).equals(expected)


def test_an_explanation_says_what_speaks_for_it(predictor: rana.Predictor) -> None:
    causes = predictor.learn("causes", FIVE)
    answer = causes.complete("virus", k=1)[0]
    why = causes.explain("virus", answer["tail"])
    assert (why.head, why.tail) == ("virus", answer["tail"])
    assert why.score == pytest.approx(answer["score"]) and why.confidence == pytest.approx(answer["confidence"])
    assert why.reasons and why.to_dict()["text"] == why.reasons
    assert why.reasons[0] in repr(why) and "<table>" in why._repr_html_()


def test_new_relations_rejected_pairs_and_candidates(predictor: rana.Predictor) -> None:
    new = predictor.learn("brings about", FIVE, new=True)
    best = new.complete("virus", k=1)[0]
    assert best["relation"] == "brings about"
    without = predictor.learn("brings about", FIVE, new=True, rejected=[("virus", best["tail"])])
    assert best["tail"] not in without.complete("virus", k=200).column("tail")
    few = ["cell", "tissue", "neoplastic_process"]
    among = predictor.learn("causes", FIVE, candidates=few)
    assert among.candidate_count == 3 and set(among.complete("virus").column("tail")) <= set(few)
    own = predictor.learn("treats")
    assert len(own.support) > 20 and not any(own.complete(k=3).column("known"))


def test_limits(predictor: rana.Predictor) -> None:
    causes = predictor.learn("causes", FIVE)
    every = causes.complete(k=5)
    middle = sorted(every.column("confidence"))[len(every) // 2]
    sure = causes.complete(k=5, min_confidence=middle)
    assert 0 < len(sure) < len(every) and min(sure.column("confidence")) >= middle
    least, measured = causes.confidence_for(0.3)
    assert measured >= 0.3
    assert all(value >= least for value in causes.complete(k=5, precision=0.3).column("confidence"))
    with pytest.raises(rana.PrecisionError, match="no confidence promises a precision of 1"):
        causes.complete(k=5, precision=1.0)


def test_unknown_names_are_refused_with_similar_ones(predictor: rana.Predictor) -> None:
    with pytest.raises(rana.UnknownRelationError, match="did you mean `causes`") as relation:
        predictor.learn("cause", FIVE)
    assert relation.value.name == "cause" and relation.value.suggestions == ["causes"]
    causes = predictor.learn("causes", FIVE)
    with pytest.raises(rana.UnknownEntityError) as entity:
        causes.complete(["virus", "bacterum"])
    assert isinstance(entity.value, LookupError) and "bacterium" in entity.value.suggestions
    assert len(causes.complete(["virus", "bacterum"], k=1, unknown="skip")) == 1
    with pytest.raises(rana.UnknownEntityError):
        causes.explain("virus", "nothing at all")
    with pytest.raises(rana.UnknownTypeError):
        predictor.learn("causes", FIVE, types=["no type"])
    assert predictor.find("bacterum").column("entity")[0] == "bacterium"


def test_what_cannot_be_learned_from_is_refused(predictor: rana.Predictor) -> None:
    with pytest.raises(rana.RelationError, match="in the support and among the rejected"):
        predictor.learn("causes", FIVE, rejected=FIVE[:1])
    with pytest.raises(rana.RelationError, match="the support is empty"):
        predictor.learn("causes", [])
    with pytest.raises(rana.RelationError, match="leave out `new`"):
        predictor.learn("treats", FIVE, new=True)
    for pairs in [["ab"], [("a", 1)], 5, [("a", "b", "c")]]:
        with pytest.raises(rana.DataError, match="pair"):
            predictor.learn("causes", pairs)
    causes = predictor.learn("causes", FIVE)
    for heads in [5, [5], [None], polars.DataFrame({"a": ["x"], "b": ["y"]}), pyarrow.table({"head": ["virus", None]})]:
        with pytest.raises(rana.DataError):
            causes.complete(heads)
    with pytest.raises(rana.DataError, match="from 0 to 1"):
        causes.complete("virus", precision=1.5)


def test_a_predictor_is_pickled_by_its_path(predictor: rana.Predictor, learned: pathlib.Path) -> None:
    copy = pickle.loads(pickle.dumps(predictor))
    assert copy.path == str(learned)
    answers = [of.learn("causes", FIVE).complete("virus").to_pylist() for of in (predictor, copy)]
    assert answers[0] == answers[1]


def test_a_closed_predictor_says_so(learned: pathlib.Path) -> None:
    with rana.Predictor(learned) as predictor:
        causes = predictor.learn("causes", FIVE)
    with pytest.raises(rana.ClosedError):
        predictor.learn("causes", FIVE)
    assert len(causes.complete("virus", k=2)) == 2


def test_vectors_are_numpy_arrays_without_a_copy(predictor: rana.Predictor) -> None:
    vectors = predictor.embeddings()
    graph = predictor.graph
    array = numpy.asarray(vectors.entities)
    assert array.shape == vectors.entities.shape == (graph.entity_count, vectors.dim) and array.dtype == numpy.float32
    address = vectors.entities.__array_interface__["data"][0]
    assert array.__array_interface__["data"][0] == address == vectors.entities.to_numpy().__array_interface__["data"][0]
    assert not array.flags.writeable
    with pytest.raises(ValueError):
        array[0, 0] = 1
    assert list(array[3]) == vectors.entities[3]
    row = array[3].copy()
    # The array keeps what it reads alive.
    del vectors, predictor
    assert (array[3] == row).all()


def test_bad_runs_are_refused(learned: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(rana.RunError, match="not a run"):
        rana.Predictor(tmp_path)
    newer = tmp_path / "newer"
    shutil.copytree(learned, newer)
    manifest = json.loads((newer / "run.json").read_text())
    (newer / "run.json").write_text(json.dumps({**manifest, "version": 99}))
    with pytest.raises(rana.RunError, match="version 99"):
        rana.Predictor(newer)
    (newer / "run.json").write_text("{")
    with pytest.raises(rana.RunError, match="run.json"):
        rana.Predictor(newer)
    shutil.rmtree(newer / "graph")
    shutil.copy(learned / "run.json", newer / "run.json")
    with pytest.raises(rana.RunError, match="the graph of the run cannot be opened"):
        rana.Predictor(newer)


def test_an_evaluation_is_that_of_the_command(learned: pathlib.Path) -> None:
    evaluation = rana.evaluate(learned, draws=0)
    command = ["rana", "eval", learned, "--draws", "0", "--json"]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    card = evaluation.to_dict()
    assert evaluation.mrr == printed["official"]["micro"]["mrr"] == card["official"]["micro"]["mrr"] > 0
    assert evaluation.model in evaluation._repr_html_() and "<html" in evaluation.to_html()
    with pytest.raises(rana.EvaluationError):
        rana.evaluate(learned, on="dev")


def test_quality_says_what_to_expect(predictor: rana.Predictor) -> None:
    quality = predictor.quality()
    assert quality is not None and "learned" in quality.column("model")
    assert "measured on" in predictor._repr_html_()


def test_many_threads_get_the_same_answers(predictor: rana.Predictor) -> None:
    """Run with `-X faulthandler`, which says where a crash was."""
    causes = predictor.learn("causes", FIVE)
    expected = causes.complete(k=3).to_pylist()

    def work(number: int) -> list[dict[str, object]]:
        graph = rana.Graph.from_triples(predictor.graph.facts())
        assert len(graph) == len(predictor.graph) and causes.explain("virus", "cell").reasons is not None
        relation = causes if number % 2 else predictor.learn("causes", FIVE)
        with pytest.raises(rana.UnknownEntityError):
            relation.complete(["no such entity"])
        return relation.complete(k=3, reasons=number % 3 == 0).to_pylist()

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        for answers in threads.map(work, range(32)):
            plain = [{key: value for key, value in row.items() if key != "reasons"} for row in answers]
            assert plain == expected
