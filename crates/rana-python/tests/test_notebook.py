"""The notebook and the example program run from top to bottom."""

import pathlib
import subprocess
import sys

import nbclient
import nbformat
import pytest

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"


def test_the_notebook_runs(tmp_path: pathlib.Path) -> None:
    notebook = nbformat.read(EXAMPLES / "quickstart.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("text/html" in output.get("data", {}) for output in shown)
    assert not any(output.output_type == "error" for output in shown)


def test_the_program_runs(tmp_path: pathlib.Path) -> None:
    program = [sys.executable, EXAMPLES / "typed_program.py", tmp_path / "learned"]
    printed = subprocess.run(program, check=True, capture_output=True, text=True).stdout
    assert printed.count(" causes ") == 6 and "135 vectors" in printed


@pytest.mark.parametrize("arguments", [["--version"], ["learn", "--help"]])
def test_the_command_is_on_the_path(arguments: list[str]) -> None:
    commands = [["rana"], [sys.executable, "-m", "rana"]]
    printed = [subprocess.run([*of, *arguments], check=True, capture_output=True).stdout for of in commands]
    assert printed[0] == printed[1] and b"rana" in printed[0]


def test_the_command_ends_as_the_program_does(tmp_path: pathlib.Path) -> None:
    def code(*arguments: str) -> int:
        return subprocess.run(["rana", *arguments], capture_output=True, cwd=tmp_path).returncode

    assert (code("learn"), code("complete", "missing", "--relation", "r"), code("--help")) == (2, 1, 0)
