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
import shutil
import statistics
from pathlib import Path

from harness import DATA, RANA, generated, machine, measure, positive, run, say, virtualenv, warm

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
    python = virtualenv("pykeen")
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


def summary(rounds: list, path_graph: Path) -> dict:
    names = list(rounds[0])
    median = {
        name: {key: statistics.median(each[name][key] for each in rounds) for key in ("seconds", "peak_mb")}
        for name in names
    }
    return {
        "file_bytes": path_graph.stat().st_size,
        "machine": machine(),
        "rounds": rounds,
        "median": median,
    }


def table(record: dict) -> str:
    pykeen_seconds = record["median"]["PyKEEN from_path"]["seconds"]
    rows = ["| | median time | PyKEEN takes | peak memory |", "| --- | ---: | ---: | ---: |"]
    for name, median in record["median"].items():
        # Opening a store is no import: a ratio would compare unlike things.
        ratio = "" if name == "rana open" else f"{pykeen_seconds / median['seconds']:.1f} times as long"
        rows.append(f"| {name} | {median['seconds']:.3f} s | {ratio} | {median['peak_mb']:.0f} MB |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
