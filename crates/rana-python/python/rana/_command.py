"""The command `rana`."""

import signal
import sys

from ._rana import run_command


def main() -> None:
    """Runs the command line of this process."""
    # The command has its own way to stop; a second Ctrl-C must not wait for Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run_command(["rana", *sys.argv[1:]]))
