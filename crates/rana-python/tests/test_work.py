"""Long work: progress, Ctrl-C, resuming, and training by steps."""

import pathlib
import signal
import subprocess
import sys
import textwrap

import pytest

import rana


@pytest.mark.slow
def test_progress_is_told(tmp_path: pathlib.Path) -> None:
    told: list[rana.Progress] = []
    rana.learn(rana.Graph.umls(), tmp_path / "out", progress=told.append)
    assert any("training vectors" in at.stage for at in told)
    assert all(at.total is None or at.done <= at.total for at in told) and "%" in str(told[-1])


@pytest.mark.slow
def test_an_exception_of_the_progress_stops_the_work(tmp_path: pathlib.Path) -> None:
    def refuse(at: rana.Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        rana.learn(rana.Graph.umls(), tmp_path / "out", progress=refuse)
    assert not (tmp_path / "out" / "run.json").exists()
    rana.learn(rana.Graph.umls(), tmp_path / "out")


@pytest.mark.slow
def test_ctrl_c_leaves_a_checkpoint(tmp_path: pathlib.Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
        import sys, rana
        def tell(at):
            if "training vectors" in at.stage and at.done > 0:
                print("training", flush=True)
        try:
            rana.learn(rana.Graph.umls(), sys.argv[1], progress=tell)
        except KeyboardInterrupt as interrupt:
            print("interrupted:", *interrupt.__notes__)
        """)
    )
    out = tmp_path / "out"
    process = subprocess.Popen([sys.executable, program, out], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "training\n"
    process.send_signal(signal.SIGINT)
    said = process.stdout.read()
    assert process.wait() == 0
    assert "interrupted: what is learned so far is kept in" in said, said
    # What is resumed is what it would have been without the interruption.
    assert (out / "learning.json").exists() and not (out / "run.json").exists()
    assert list(out.glob("withheld/*/*"))
    rana.learn(rana.Graph.umls(), out)
    rana.learn(rana.Graph.umls(), tmp_path / "unbroken")
    for file in ["evidence.json", "quality.json"]:
        assert (out / file).read_bytes() == (tmp_path / "unbroken" / file).read_bytes()


def test_a_second_call_opens_what_the_first_learned(learned: pathlib.Path, tmp_path: pathlib.Path) -> None:
    before = (learned / "run.json").stat().st_mtime_ns
    rana.learn(rana.Graph.umls(), learned, leave_out=["causes"])
    assert (learned / "run.json").stat().st_mtime_ns == before
    with pytest.raises(rana.LearningError, match="learned with"):
        rana.learn(rana.Graph.umls(), learned, leave_out=["causes"], seed=1)
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(rana.LearningError, match="holds other files"):
        rana.learn(rana.Graph.umls(), tmp_path)
    with pytest.raises(rana.UnknownRelationError):
        rana.learn(rana.Graph.umls(), tmp_path / "out", leave_out=["cause"])


def test_a_model_is_fitted_as_by_the_command(tmp_path: pathlib.Path) -> None:
    kg = tmp_path / "kg"
    rana.Graph.umls().save(kg)
    subprocess.run(["rana", "split", kg, "--out", tmp_path / "tasks", "--quiet"], check=True)
    with pytest.raises(rana.VectorError, match="no vectors"):
        rana.fit(tmp_path / "tasks", tmp_path / "run")
    subprocess.run(["rana", "embed", tmp_path / "tasks", "--epochs", "20", "--quiet"], check=True)
    settings = {"steps": 20, "eval_every": 10, "batch": 4}
    predictor = rana.fit(tmp_path / "tasks", tmp_path / "run", preset="umls", settings=settings, seed=3)
    command = ["rana", "train", tmp_path / "tasks", "--out", tmp_path / "by-command", "--preset", "umls", "--seed", "3"]
    command += [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    subprocess.run([*command, "--quiet"], check=True)
    relation = predictor.graph.relations()[0]["relation"]
    answers = [
        rana.Predictor(tmp_path / run).learn(relation).complete(["virus", "cell"], k=3).to_pylist() for run in ("run", "by-command")
    ]
    assert answers[0] == answers[1] and answers[0]
    assert rana.evaluate(tmp_path / "run", on="dev", draws=0).model == "rana"
    with pytest.raises(rana.SettingsError, match="stepz"):
        rana.fit(tmp_path / "tasks", tmp_path / "other", settings={"stepz": 1})
    with pytest.raises(rana.RunError, match="a run already"):
        rana.fit(tmp_path / "tasks", tmp_path / "run")
