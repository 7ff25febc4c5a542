"""Learn a knowledge-graph relation from a handful of facts and complete it.

    import rana

    predictor = rana.learn("facts.tsv", "learned")
    treats = predictor.learn("treats", [("aspirin", "headache"), ("insulin", "diabetes")])
    print(treats.complete("ibuprofen", k=3, reasons=True))

The engine is in Rust; the guide is docs/python.md.
"""

import atexit as _atexit

from ._completer import Completer
from ._errors import (
    ClosedError,
    DataError,
    EvaluationError,
    FileError,
    GraphError,
    InternalError,
    LearningError,
    PrecisionError,
    RanaError,
    RelationError,
    RunError,
    SettingsError,
    UnknownEntityError,
    UnknownNameError,
    UnknownRelationError,
    UnknownTypeError,
    VectorError,
)
from ._progress import Progress
from ._rana import (
    Embeddings,
    Evaluation,
    Explanation,
    Graph,
    Predictor,
    Relation,
    Table,
    VectorTable,
    __version__,
    evaluate,
    fit,
    learn,
    wait_for_interrupted_work,
)

__all__ = [
    "ClosedError",
    "Completer",
    "DataError",
    "Embeddings",
    "Evaluation",
    "EvaluationError",
    "Explanation",
    "FileError",
    "Graph",
    "GraphError",
    "InternalError",
    "LearningError",
    "PrecisionError",
    "Predictor",
    "Progress",
    "RanaError",
    "Relation",
    "RelationError",
    "RunError",
    "SettingsError",
    "Table",
    "UnknownEntityError",
    "UnknownNameError",
    "UnknownRelationError",
    "UnknownTypeError",
    "VectorError",
    "VectorTable",
    "__version__",
    "evaluate",
    "fit",
    "learn",
    "wait_for_interrupted_work",
]

# Work that Ctrl-C has interrupted may still be writing what it keeps.
_atexit.register(wait_for_interrupted_work)
