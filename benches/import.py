#!/usr/bin/env python3
"""Import of a graph of Wiki-One's size: rana against PyKEEN, in one run on one machine.

    python3 benches/import.py [--rounds 3] [--out target/bench-data/import.json]

Both read the same generated file of 5,859,240 facts over 4,838,244 entities. Every measurement is
a fresh process, the contestants take turns within a round, and the file is read once beforehand,
so that neither pays for a cold disk. rana's times are of the whole process, writing its store
included; PyKEEN's are of the call `TriplesFactory.from_path` alone, the import of the library not
included. Peak memory is of the whole process, from wait4(2).

Everything is kept under target/: a virtual environment, the data, the stores, the record. The
plain PyKEEN package brings PyTorch with its GPU libraries, about 6 GB on disk; they are not used.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "target" / "bench-venv"
DATA = ROOT / "target" / "bench-data"
RANA = ROOT / "target" / "release" / "rana"

# Runs inside the virtual environment; prints one line of JSON last.
PYKEEN = """
import json, sys, time
from pykeen.triples import TriplesFactory
start = time.perf_counter()
factory = TriplesFactory.from_path(sys.argv[1])
seconds = time.perf_counter() - start
print(json.dumps({
    "seconds": seconds,
    "entities": factory.num_entities,
    "relations": factory.num_relations,
    "facts": factory.num_triples,
}))
"""


def main() -> None:
    args = arguments()
    python = virtualenv()
    if not args.pykeen_only:
        run("cargo", "build", "--release", "-p", "rana-cli")
    release = args.data or generated()
    path_graph = release / "path_graph"
    warm(path_graph)
    contestants = {"PyKEEN from_path": lambda: pykeen(python, path_graph)}
    if not args.pykeen_only:
        contestants = {
            "rana import path_graph": lambda: rana_import([path_graph, "--format", "tsv"], "tsv-store"),
            "rana import release": lambda: rana_import([release], "release-store"),
            "rana open": lambda: rana_open("release-store"),
            **contestants,
        }
    rounds = [one_round(number + 1, contestants) for number in range(args.rounds)]
    record = summary(rounds, path_graph)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(record, indent=2) + "\n")
    print(table(record))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=positive, default=3, help="rounds of all contestants (default 3)")
    parser.add_argument("--data", type=Path, help="a release directory to use instead of a generated one")
    parser.add_argument("--out", type=Path, default=DATA / "import.json", help="where the record goes")
    parser.add_argument("--pykeen-only", action="store_true", help="measure PyKEEN alone")
    return parser.parse_args()


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def virtualenv() -> Path:
    """The interpreter of an environment that has PyKEEN."""
    python = VENV / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", VENV)
    if subprocess.run([python, "-c", "import pykeen.triples"], capture_output=True).returncode != 0:
        run(python, "-m", "pip", "install", "--quiet", "pykeen")
    return python


def generated() -> Path:
    release = DATA / "wiki-one"
    if not (release / "path_graph").exists():
        DATA.mkdir(parents=True, exist_ok=True)
        run(RANA, "synth", "--like", "wiki-one", "--out", release)
    return release


def warm(path: Path) -> None:
    """Reads a file once, so that every contestant finds it in the page cache."""
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def one_round(number: int, contestants: dict) -> dict:
    results = {}
    for name, measure in contestants.items():
        results[name] = measure()
        say(f"round {number}: {name}: {results[name]['seconds']:.3f} s, {results[name]['peak_mb']:.0f} MB")
    return results


def rana_import(sources: list, store: str) -> dict:
    out = DATA / store
    # The store is written anew each time: replacing one might cost more or less.
    shutil.rmtree(out, ignore_errors=True)
    measured = measure(RANA, "import", *sources, "--out", out, "--quiet")
    del measured["stdout"]
    return measured


def rana_open(store: str) -> dict:
    measured = measure(RANA, "inspect", DATA / store, "--json")
    return {"seconds": json.loads(measured["stdout"])["open_seconds"], "peak_mb": measured["peak_mb"]}


def pykeen(python: Path, path_graph: Path) -> dict:
    measured = measure(python, "-c", PYKEEN, path_graph)
    told = json.loads(measured["stdout"].splitlines()[-1])
    return {**told, "process_seconds": measured["seconds"], "peak_mb": measured["peak_mb"]}


def measure(*command) -> dict:
    """Wall time and peak memory of a fresh process, and what it printed."""
    # Files rather than pipes: a pipe nobody empties could block the child.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen([str(part) for part in command], stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        stdout, stderr = whole(out), whole(err)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {child.returncode}\n{stderr}")
    # ru_maxrss is in kilobytes, except on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return {"seconds": seconds, "peak_mb": usage.ru_maxrss * unit / 1e6, "stdout": stdout}


def whole(file) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def summary(rounds: list, path_graph: Path) -> dict:
    names = list(rounds[0])
    median = {
        name: {key: statistics.median(each[name][key] for each in rounds) for key in ("seconds", "peak_mb")}
        for name in names
    }
    return {
        "file_bytes": path_graph.stat().st_size,
        "machine": {"system": platform.platform(), "cpu": cpu(), "cores": os.cpu_count()},
        "rounds": rounds,
        "median": median,
    }


def cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def table(record: dict) -> str:
    pykeen_seconds = record["median"]["PyKEEN from_path"]["seconds"]
    rows = ["| | median time | PyKEEN takes | peak memory |", "| --- | ---: | ---: | ---: |"]
    for name, median in record["median"].items():
        # Opening a store is no import: a ratio would compare unlike things.
        ratio = "" if name == "rana open" else f"{pykeen_seconds / median['seconds']:.1f} times as long"
        rows.append(f"| {name} | {median['seconds']:.3f} s | {ratio} | {median['peak_mb']:.0f} MB |")
    return "\n".join(rows)


def run(*command) -> None:
    say("$ " + " ".join(map(str, command)))
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT, stdout=sys.stderr)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
