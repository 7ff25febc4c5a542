"""`Completer`: completes batches of heads in the workers of other engines."""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from ._errors import DataError
from ._rana import Predictor, Relation, Table

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]

_Pairs = Iterable[tuple[str, str]]


class Completer:
    """Arrow batch of heads in, Arrow batch of answers out.

    A worker makes its own from a path; the run is opened at the first batch, so that it can be pickled before. A batch has a
    column of heads (`head_column`), and what comes back has the columns of `Relation.complete`. Batches do not depend on each
    other: one that is asked again gives the same answers.

    With Ray: `data.map_batches(Completer, fn_constructor_args=(path, relation), batch_format="pyarrow", ...)`.
    With Spark: `frame.mapInArrow(Completer(path, relation).map, schema)`.

    `threads` is how many threads a worker computes on; one is right where the engine starts a worker for each processor.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        relation: str,
        pairs: _Pairs | None = None,
        *,
        rejected: _Pairs | None = None,
        new: bool = False,
        candidates: Literal["all"] | Iterable[str] | None = None,
        head_column: str = "head",
        k: int = 10,
        precision: float | None = None,
        min_confidence: float | None = None,
        min_score: float | None = None,
        reasons: bool = False,
        unknown: Literal["raise", "skip"] = "raise",
        graph: str | os.PathLike[str] | None = None,
        threads: int | None = 1,
    ) -> None:
        self._path = os.path.abspath(path)
        self._graph = None if graph is None else os.path.abspath(graph)
        self._threads = threads
        self._relation = relation
        self._pairs = None if pairs is None else [(head, tail) for head, tail in pairs]
        self._rejected = None if rejected is None else [(head, tail) for head, tail in rejected]
        self._new = new
        self._candidates: Any = candidates if candidates is None or isinstance(candidates, str) else list(candidates)
        self._head_column = head_column
        self._limits: dict[str, Any] = {
            "k": k,
            "precision": precision,
            "min_confidence": min_confidence,
            "min_score": min_score,
            "reasons": reasons,
            "unknown": unknown,
        }
        self._learned: tuple[int, Relation] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_learned": None}

    def _opened(self) -> Relation:
        # A process that was forked opens its own.
        if self._learned is None or self._learned[0] != os.getpid():
            predictor = Predictor(self._path, self._graph, self._threads)
            relation = predictor.learn(
                self._relation,
                self._pairs,
                rejected=self._rejected,
                new=self._new,
                candidates=self._candidates,
            )
            self._learned = (os.getpid(), relation)
        return self._learned[1]

    def complete(self, batch: Any) -> Table:
        """The answers for a batch: anything with `__arrow_c_stream__` and a column of heads."""
        heads = _HeadColumn(batch, self._head_column)
        return self._opened().complete(heads, progress=False, **self._limits)

    def __call__(self, batch: "pyarrow.Table") -> "pyarrow.Table":
        """The same with tables of pyarrow, as Ray hands them over."""
        import pyarrow

        return pyarrow.table(self.complete(batch))

    def map(self, batches: "Iterable[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        """The same for batch after batch, as Spark hands them over."""
        import pyarrow

        for batch in batches:
            yield from self(pyarrow.Table.from_batches([batch])).to_batches()


class _HeadColumn:
    """One column of a batch, as an Arrow stream."""

    def __init__(self, batch: Any, column: str) -> None:
        self._batch = batch
        self._column = column

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        batch, column = self._batch, self._column
        if hasattr(batch, "column_names") and hasattr(batch, "select"):
            if column not in batch.column_names:
                found = ", ".join(f"`{name}`" for name in batch.column_names)
                raise DataError(f"the batch has no column `{column}`; there are {found}")
            batch = batch.select([column]).rename_columns(["head"])
        stream: object = batch.__arrow_c_stream__(requested_schema)
        return stream
