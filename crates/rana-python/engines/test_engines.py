"""The jobs of Ray and Spark, run for real: the same answers as the command, byte for byte after sorting.

Run by `scripts/python_tests.sh --engines`. Spark needs Java 17.
"""

import os
import pathlib
import subprocess
import sys

import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest
import ray

import rana

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"
RELATION = "affects"
KEYS = [("head", "ascending"), ("rank", "ascending")]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A directory with a run, heads in several files, and the answers of the command."""
    work = tmp_path_factory.mktemp("engines")
    rana.learn(rana.Graph.umls(), work / "run")
    heads = rana.Graph.umls().entities().column("entity")
    (work / "heads.txt").write_text("\n".join(heads))
    (work / "heads").mkdir()
    for part in range(5):
        # Not Snappy: its library in Java does not load on every machine.
        table, file = pyarrow.table({"head": heads[part::5]}), work / "heads" / f"{part}.parquet"
        pyarrow.parquet.write_table(table, file, compression="gzip")
    command = ["rana", "complete", work / "run", "--relation", RELATION, "--heads", work / "heads.txt"]
    subprocess.run([*command, "--out", work / "command.parquet", "--quiet"], check=True)
    return work


def sorted_bytes(path: pathlib.Path, like: pyarrow.Table | None = None) -> tuple[bytes, pyarrow.Table]:
    """The rows of a Parquet file or directory as bytes, sorted, with the columns of another table."""
    table = pyarrow.parquet.read_table(path)
    if like is not None:
        table = table.select(like.column_names).cast(like.schema)
    table = table.sort_by(KEYS).combine_chunks()
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes(), table


def check(work: pathlib.Path, found: pathlib.Path) -> None:
    expected, table = sorted_bytes(work / "command.parquet")
    assert table.num_rows > 1000
    assert sorted_bytes(found, table)[0] == expected


def test_ray(work: pathlib.Path, tmp_path: pathlib.Path) -> None:
    job = [sys.executable, EXAMPLES / "ray_complete.py", work / "run", RELATION, work / "heads", tmp_path / "out", "2"]
    subprocess.run(job, check=True, env={**os.environ, "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"})
    check(work, tmp_path / "out")


def test_spark(work: pathlib.Path, tmp_path: pathlib.Path) -> None:
    job = [sys.executable, EXAMPLES / "spark_complete.py", work / "run", RELATION, work / "heads", tmp_path / "out"]
    options = "--master local[2] --conf spark.sql.parquet.compression.codec=gzip pyspark-shell"
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": options}
    subprocess.run(job, check=True, env=environment)
    check(work, tmp_path / "out")


class Killed(rana.Completer):
    """Ends its process in the middle of the work, once."""

    def __init__(self, marker: str, *arguments: object) -> None:
        super().__init__(*arguments)
        self._marker = marker

    def __call__(self, batch: pyarrow.Table) -> pyarrow.Table:
        answers = super().__call__(batch)
        if "virus" in batch.column("head").to_pylist() and not os.path.exists(self._marker):
            pathlib.Path(self._marker).touch()
            os.kill(os.getpid(), 9)
        return answers


def test_a_killed_worker_costs_its_batch_only(work: pathlib.Path, tmp_path: pathlib.Path) -> None:
    marker = tmp_path / "killed"
    # The workers import the class above.
    path = os.pathsep.join([str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": path}})
    try:
        ray.data.read_parquet(str(work / "heads")).repartition(10).map_batches(
            Killed,
            fn_constructor_args=(str(marker), str(work / "run"), RELATION),
            batch_format="pyarrow",
            batch_size=10,
            num_cpus=0.5,
            compute=ray.data.ActorPoolStrategy(size=2),
        ).write_parquet(str(tmp_path / "out"))
    finally:
        ray.shutdown()
    assert marker.exists()
    check(work, tmp_path / "out")
