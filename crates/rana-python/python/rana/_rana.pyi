# Made by scripts/python_tests.sh --stubs.
import os
import typing

import numpy
import numpy.typing

from ._progress import Progress

"""
The compiled part of the package `rana`.
"""

from _typeshed import SupportsGetItem
from typing import Final, SupportsIndex, final

__all__ = ["__version__", "Embeddings", "Evaluation", "Explanation", "Graph", "Predictor", "Relation", "Table", "VectorTable", "evaluate", "fit", "learn", "run_command", "wait_for_interrupted_work"]

__version__: Final[str]
"""
The version of the library.
"""

@final
class Embeddings:
    """
    The vectors of a graph: of its entities and of its relations.
    """
    def __repr__(self, /) -> str: ...
    @property
    def dim(self, /) -> int:
        """
        How many numbers a vector has.
        """
    @property
    def entities(self, /) -> VectorTable:
        """
        The vectors of the entities, in the order of `Graph.entities()`.
        """
    @property
    def model(self, /) -> str:
        """
        The name of the model that trained them.
        """
    @staticmethod
    def open(path: "str | os.PathLike[str]", graph: "Graph") -> "Embeddings":
        """
        Opens vectors of a graph, such as those of `rana embed`.
        """
    @property
    def relations(self, /) -> VectorTable:
        """
        The vectors of the relations, in the order of `Graph.relations()`; some models have two rows for each: the relation and
        its inverse.
        """

@final
class Evaluation:
    """
    An evaluation card: the result of a model on few-shot tasks, with the models it is compared with.
    """
    def __repr__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    @property
    def model(self, /) -> str:
        """
        The name of the model.
        """
    @property
    def mrr(self, /) -> float:
        """
        The mean reciprocal rank over all queries, with the official supports.
        """
    def to_dict(self, /) -> "dict[str, typing.Any]":
        """
        The whole card.
        """
    def to_html(self, /) -> str:
        """
        The card as a page with plots, as `rana eval --html` writes it.
        """
    def to_json(self, /) -> str:
        """
        The whole card as JSON, as `rana eval --json` prints it.
        """

@final
class Explanation:
    """
    What speaks for an answer, and what against it.
    """
    def __repr__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    @property
    def against(self, /) -> list[str]:
        """
        What speaks against it, the strongest first.
        """
    @property
    def confidence(self, /) -> float | None:
        """
        The chance that it is right; None where too few examples tell.
        """
    @property
    def head(self, /) -> str:
        """
        The head.
        """
    @property
    def reasons(self, /) -> list[str]:
        """
        What speaks for it, the strongest first.
        """
    @property
    def score(self, /) -> float:
        """
        The score of the answer.
        """
    @property
    def tail(self, /) -> str:
        """
        The tail.
        """
    def to_dict(self, /) -> "dict[str, typing.Any]":
        """
        Everything: paths, sources of evidence, the most similar pair, and the attention of the model.
        """

@final
class Graph:
    """
    A knowledge graph: facts of head, relation and tail, by names.
    """
    def __enter__(self, /) -> "Graph": ...
    def __exit__(self, /, *_exception: "object") -> "None": ...
    def __len__(self, /) -> int:
        """
        How many facts it has.
        """
    def __repr__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    def close(self, /) -> None:
        """
        Gives the graph back; whatever is asked of it later raises `ClosedError`.
        """
    def entities(self, /) -> "Table":
        """
        The entities in the order of the rows of vectors: name and label.
        """
    @property
    def entity_count(self, /) -> int:
        """
        How many entities it has.
        """
    def facts(self, /, relation: "str | None" = None) -> "Table":
        """
        The facts: head, relation, tail; those of one relation if it is named.
        """
    @staticmethod
    def from_files(*paths: "str | os.PathLike[str]", format: "str | None" = None, columns: "tuple[str, str, str] | None" = None, type_relations: "typing.Sequence[str]" = ..., label_relations: "typing.Sequence[str]" = ..., language: "str | None" = None, keep_literals: "bool" = False, lenient: "bool" = False, max_decompressed: "int | None" = None, progress: "bool | typing.Callable[[Progress], object] | None" = None) -> "Graph":
        """
        Reads files: delimited text, RDF or Parquet, told from content and name, also compressed.
        """
    @staticmethod
    def from_rdf(source: "str | os.PathLike[str] | typing.Any", *, type_relations: "typing.Sequence[str]" = ..., label_relations: "typing.Sequence[str]" = ..., language: "str | None" = None, keep_literals: "bool" = False, progress: "bool | typing.Callable[[Progress], object] | None" = None) -> "Graph":
        """
        Reads RDF: paths of files, or a graph or dataset of rdflib.
        """
    @staticmethod
    def from_triples(triples: "typing.Any", *, columns: "tuple[str, str, str] | None" = None, type_relations: "typing.Sequence[str]" = ..., label_relations: "typing.Sequence[str]" = ..., lenient: "bool" = False, progress: "bool | typing.Callable[[Progress], object] | None" = None) -> "Graph":
        """
        Takes triples: anything with `__arrow_c_stream__` (polars, pandas 3, pyarrow, DuckDB), or tuples of head, relation and
        tail. `columns` names the columns of a table where its header does not say them. Names are strings or integers.
        """
    @staticmethod
    def open(path: "str | os.PathLike[str]") -> "Graph":
        """
        Opens a store of `rana import` or of `Graph.save`. It is mapped into memory, not read.
        """
    @property
    def relation_count(self, /) -> int:
        """
        How many relations it has.
        """
    def relations(self, /) -> "Table":
        """
        The relations: name, label, and how many facts each has.
        """
    def save(self, /, path: "str | os.PathLike[str]") -> "None":
        """
        Writes the graph as a store, in place of the store that may be there.
        """
    @staticmethod
    def umls() -> "Graph":
        """
        The small graph that comes with rana: the UMLS semantic network, 135 entities, 46 relations, 6,529 facts.
        """

@final
class Predictor:
    """
    Completes relations of a graph, by a directory of `rana.learn` or a run of `rana.fit`, `rana train` or `rana fuse`.

    It can be pickled: what is kept is the path, and the run is opened from it. `threads` limits how many threads it computes
    on, for workers that share a machine. `graph` is where its graph is, if that has moved.
    """
    def __enter__(self, /) -> "Predictor": ...
    def __exit__(self, /, *_exception: "object") -> "None": ...
    def __new__(cls, /, path: "str | os.PathLike[str]", graph: "str | os.PathLike[str] | None" = None, threads: "int | None" = None) -> Predictor: ...
    def __reduce__(self, /) -> "tuple[type, tuple[str, str | None, int | None]]": ...
    def __repr__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    def close(self, /) -> None:
        """
        Gives the run back; whatever is asked of it later raises `ClosedError`. Relations that were learned stay.
        """
    def embeddings(self, /) -> "Embeddings":
        """
        The vectors of the run.
        """
    def find(self, /, text: "str", k: "int" = 10) -> "Table":
        """
        Entities by what people call them: names, labels, their beginnings, and what is misspelt.
        """
    @property
    def graph(self, /) -> Graph:
        """
        Its graph.
        """
    def learn(self, /, relation: "str", pairs: "typing.Any" = None, *, rejected: "typing.Any" = None, new: "bool" = False, candidates: "typing.Literal['all'] | typing.Iterable[str] | None" = None, types: "typing.Sequence[str]" = ..., include_known: "bool" = False) -> "Relation":
        """
        Learns a relation from pairs of head and tail, which are names or labels: a list of tuples, or a table with the columns
        `head` and `tail`.

        Without pairs it is learned from the facts that the graph has. A relation that the graph does not have needs
        `new=True`. Pairs in `rejected` are said to be wrong. Answers are looked for among `candidates` (names, or "all") or
        the entities of `types`; otherwise among those that fit. Facts that the graph has are answered with `include_known=True`.
        """
    @property
    def model(self, /) -> str:
        """
        The name of the model.
        """
    @property
    def path(self, /) -> str:
        """
        Where the run is.
        """
    def quality(self, /) -> "Table | None":
        """
        What learning measured on relations that it left out: how good answers on a new relation are. None if the run is not of
        `rana.learn`, or no relation could be left out.
        """

@final
class Relation:
    """
    A relation that a predictor has learned from pairs of it. It lives on its own, whatever becomes of the predictor.
    """
    def __repr__(self, /) -> str: ...
    @property
    def candidate_count(self, /) -> int:
        """
        How many entities may be answers.
        """
    def complete(self, /, heads: "str | typing.Iterable[str] | typing.Any" = None, *, k: "int" = 10, precision: "float | None" = None, min_confidence: "float | None" = None, min_score: "float | None" = None, reasons: "bool" = False, unknown: "typing.Literal['raise', 'skip']" = "raise", progress: "bool | typing.Callable[[Progress], object] | None" = None) -> "Table":
        """
        The best answers for heads: at most `k` for each, the best first.

        `heads` is a name, a list of names, or a table with the column `head`; without it, all entities that look like heads of
        the relation and have no tail yet. `precision` keeps the answers that are sure enough for this share of them to be
        right, as measured on relations left out; `min_confidence` and `min_score` are limits too. `reasons=True` says why, for
        each answer. Unknown heads raise, or are left out with `unknown="skip"`.

        The columns are head, relation, tail, rank, score, confidence (null where too few examples tell), known, head_label and
        tail_label, and reasons if asked for.
        """
    def confidence_for(self, /, precision: "float") -> "tuple[float, float]":
        """
        How sure an answer must be for a share of such answers to be right: the least confidence, and the share that was
        measured above it.
        """
    def explain(self, /, head: "str", tail: "str") -> "Explanation":
        """
        What speaks for a pair, and what against it.
        """
    @property
    def leave_one_out(self, /) -> float | None:
        """
        How well each pair is found by the others, from 0 to 1 (mean reciprocal rank); None if that says nothing.
        """
    @property
    def name(self, /) -> str:
        """
        Its name.
        """
    @property
    def note(self, /) -> str | None:
        """
        Why it cannot be said how sure answers are, if it cannot.
        """
    def plausible_heads(self, /) -> list[str]:
        """
        The entities that look like heads of the relation and have no tail yet.
        """
    @property
    def support(self, /) -> list[tuple[str, str]]:
        """
        The pairs it was learned from.
        """

@final
class Table:
    """
    A table in memory. Anything that takes `__arrow_c_stream__` reads it without a copy: `polars.DataFrame(table)`,
    `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)`.
    """
    def __arrow_c_stream__(self, /, requested_schema: "object | None" = None) -> "typing.Any":
        """
        The table as an Arrow stream, by the PyCapsule interface. A consumer that asks for another schema gets this one, and
        may cast it.
        """
    def __getitem__(self, row: SupportsIndex, /) -> dict:
        """
        A row as a dictionary.
        """
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    def column(self, /, name: "str") -> "list[typing.Any]":
        """
        The column of a name, as a list.
        """
    @property
    def columns(self, /) -> list[str]:
        """
        The names of the columns.
        """
    def to_pylist(self, /) -> "list[dict[str, typing.Any]]":
        """
        All rows as dictionaries.
        """

@final
class VectorTable:
    """
    Vectors as an array of two dimensions. `numpy.asarray(table)` reads them in place: nothing is copied, and the array keeps
    this object alive. They cannot be written.
    """
    @property
    def __array_interface__(self, /) -> dict:
        """
        Where the numbers are, for NumPy. The memory is mapped or owned by this object, which NumPy keeps alive.
        """
    def __getitem__(self, row: SupportsIndex, /) -> list[float]:
        """
        A vector as a list.
        """
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    @property
    def shape(self, /) -> tuple[int, int]:
        """
        How many vectors there are, and how many numbers each has.
        """
    def to_numpy(self, /) -> "numpy.typing.NDArray[numpy.float32]":
        """
        The vectors as a NumPy array, without a copy.
        """

def evaluate(run: "str | os.PathLike[str]", *, on: "str" = "test", shots: "int | None" = None, draws: "int" = 20, candidates: "str" = "typed", seed: "int" = 0, threads: "int | None" = None, progress: "bool | typing.Callable[[Progress], object] | None" = None) -> "Evaluation":
    """
    Measures the model of a run on few-shot tasks that its graph withholds.

    `on` is `test` or `dev`. `draws` random supports are evaluated beside the official one. Tails are ranked among `candidates`:
    `typed`, `all` or `sampled:K`.
    """

def fit(graph: "str | os.PathLike[str]", out: "str | os.PathLike[str]", *, model: "str" = "rana", preset: "str | None" = None, settings: "dict[str, object] | None" = None, seed: "int | None" = None, vectors: "str | os.PathLike[str] | None" = None, resume: "bool" = False, checkpoint_every: "float" = 60.0, threads: "int | None" = None, progress: "bool | typing.Callable[[Progress], object] | None" = None) -> "Predictor":
    """
    Trains a few-shot model on the tasks of a graph store (`rana split`) from its vectors (`rana embed`), and opens the run.

    It is what `rana train` does: `settings` are its `--set`, such as `{"steps": 300}`. Ctrl-C keeps a checkpoint, and
    `resume=True` goes on from it to the same result.
    """

def learn(source: "Graph | str | os.PathLike[str] | typing.Any", out: "str | os.PathLike[str]", *, seed: "int" = 0, budget: "float | None" = None, memory: "int | None" = None, leave_out: "typing.Sequence[str]" = ..., language: "str | None" = None, threads: "int | None" = None, progress: "bool | typing.Callable[[Progress], object] | None" = None) -> "Predictor":
    """
    Learns from a graph how its relations are completed, and opens the result.

    `source` is a Graph, a path or several, a table, or triples. Everything is kept in the directory `out`: a second call with
    the same source opens what the first one learned, and a call that was interrupted is resumed.

    `budget` is in seconds, `memory` in bytes; both are kept about. The facts of the relations in `leave_out` are not used, so
    that an evaluation shows how well they would be completed.
    """

def run_command(arguments: SupportsGetItem[int, str]) -> int:
    """
    Runs a command line, the name of the program first, and gives the exit code.

    It takes the signals and the output of the process for itself: it is what the program `rana` calls, not a function for
    programs.
    """

def wait_for_interrupted_work() -> None:
    """
    Waits until work that was interrupted has ended, so that what it keeps is on disk.

    Learning does so before it begins, and Python at its exit.
    """
