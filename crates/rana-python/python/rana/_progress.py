"""How the progress of long work is shown: a line in a terminal, a line in a notebook cell, or a callable of yours."""

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

# Work that is shorter than this shows nothing.
_QUIET_SECONDS = 1.0
_EVERY_SECONDS = 0.2


class Progress(NamedTuple):
    """Where long work is."""

    stage: str
    """What it does now."""
    done: int
    """How much of the stage is done."""
    total: int | None
    """How much there is to do in the stage, if that is known."""
    unit: str
    """What that is counted in: steps, facts or bytes."""
    seconds_left: float | None
    """How long the whole work will still take, if that is known."""

    def __str__(self) -> str:
        text = self.stage
        if self.total:
            text += f" {100 * min(self.done, self.total) // self.total} %"
        elif self.done:
            text += f" {self.done:,} {self.unit}"
        if self.seconds_left is not None:
            left = round(self.seconds_left)
            minutes = f"{left // 60} min {left % 60} s" if left >= 60 else f"{left} s"
            text += f", about {minutes} left"
        return text


class _Display(Protocol):
    def update(self, stage: str, done: int, total: int | None, unit: str, left: float | None) -> None: ...
    def note(self, line: str) -> None: ...
    def close(self) -> None: ...


class _Silent:
    def update(self, stage: str, done: int, total: int | None, unit: str, left: float | None) -> None:
        pass

    def note(self, line: str) -> None:
        pass

    def close(self) -> None:
        pass


class _Called:
    """Tells a callable."""

    def __init__(self, call: Callable[[Progress], object]) -> None:
        self._call = call

    def update(self, stage: str, done: int, total: int | None, unit: str, left: float | None) -> None:
        self._call(Progress(stage, done, total, unit, left))

    def note(self, line: str) -> None:
        pass

    def close(self) -> None:
        pass


class _Line:
    """One line that is written over: in a terminal, or as a display of a notebook."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._shown = 0.0
        self._width = 0

    def update(self, stage: str, done: int, total: int | None, unit: str, left: float | None) -> None:
        now = time.monotonic()
        if now - self._began < _QUIET_SECONDS or now - self._shown < _EVERY_SECONDS:
            return
        self._shown = now
        self._write(str(Progress(stage, done, total, unit, left)))

    def note(self, line: str) -> None:
        self._write("")
        print(line, file=sys.stderr)

    def close(self) -> None:
        self._write("")

    def _write(self, text: str) -> None:
        if text or self._width:
            sys.stderr.write("\r" + text.ljust(self._width) + ("" if text else "\r"))
            sys.stderr.flush()
        self._width = len(text)


class _Notebook(_Line):
    def __init__(self) -> None:
        super().__init__()
        self._handle: Any = None

    def note(self, line: str) -> None:
        print(line, file=sys.stderr)

    def _write(self, text: str) -> None:
        # It has no types.
        shown: Any = importlib.import_module("IPython.display")
        if self._handle is None and text:
            self._handle = shown.display(shown.Pretty(text), display_id=True)
        elif self._handle is not None:
            self._handle.update(shown.Pretty(text))


def _in_notebook() -> bool:
    # Whoever runs in a notebook has imported IPython.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def display(wanted: bool | Callable[[Progress], object] | None) -> _Display:
    """The display that the argument `progress` asks for; None shows it where somebody can see it."""
    if callable(wanted):
        return _Called(wanted)
    if wanted is False:
        return _Silent()
    if _in_notebook():
        return _Notebook()
    return _Line() if wanted or sys.stderr.isatty() else _Silent()
