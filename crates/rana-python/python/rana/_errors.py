"""What can go wrong. Messages are those of the library: they name the file or the value, and say what to do."""


class RanaError(Exception):
    """Any error of this package."""


class DataError(RanaError, ValueError):
    """Data or an argument that cannot be used: a malformed file, a column of another type, a null."""


class FileError(RanaError, OSError):
    """The operating system refuses a file."""


class ClosedError(RanaError, ValueError):
    """A graph or a predictor was closed before."""


class GraphError(RanaError):
    """A graph store cannot be opened or written: it is missing, damaged, or of another version."""


class RunError(RanaError):
    """A run cannot be opened: it is missing, was changed, is of a newer version, or belongs to another graph."""


class VectorError(RanaError):
    """Vectors cannot be opened, or are of another graph."""


class LearningError(RanaError):
    """Nothing can be learned, or not into this directory."""


class SettingsError(RanaError, ValueError):
    """A model, preset or setting that there is not."""


class EvaluationError(RanaError):
    """A run cannot be measured: its graph withholds no tasks, or they are too small."""


class RelationError(RanaError, ValueError):
    """A relation cannot be learned: no pairs, pairs that contradict each other, or no candidates."""


class PrecisionError(RanaError, ValueError):
    """No confidence promises the precision that was asked for."""


class UnknownNameError(RanaError, LookupError):
    """A text that names nothing in the graph, or several things."""

    name: str
    suggestions: list[str]

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.name = ""
        self.suggestions = []


class UnknownEntityError(UnknownNameError):
    """A text that names no entity."""


class UnknownRelationError(UnknownNameError):
    """A text that names no relation."""


class UnknownTypeError(UnknownNameError):
    """A text that names no type."""


class InternalError(RanaError):
    """A bug in rana; the interpreter and its data are unharmed."""
