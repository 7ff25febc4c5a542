#!/usr/bin/env python3
"""`rana learn` beside RANA, rules, mean translation and TransE trained on the supports.

    benches/learn_beside.py GRAPH=FILE[,FILE...] ... [--split-seeds N] [--out DIR]

Each graph is split: its test tasks are the relations left out, and no model sees more of them than five facts. Tails are ranked among
all entities. Every model starts from the same split and answers the same queries. Prints one line of JSON for each graph and split.
"""

import argparse
import json
from pathlib import Path

from harness import RANA, machine, measure, run, say

ROWS = ["mean-translation", "rules", "adjacency", "copy", "popularity"]


def card(*arguments) -> dict:
    """The first card that `rana eval` prints."""
    command = [RANA, "eval", *arguments, "--on", "test-tasks", "--draws", 5, "--json", "-q"]
    return json.loads(measure(*command)["stdout"])["few_shot"][0]


def numbers(of: dict) -> dict:
    """Means over relations: of the first five facts as support, and of random ones."""
    official, random = of["official"]["macro"], of["resampled"]
    # Vectors that know the supports know only the first ones.
    of_random = {"random_mrr": random["macro"]["mrr"]["mean"]} if random else {}
    return {"mrr": official["mrr"], "hits10": official["hits10"]} | of_random


def compare(name: str, files: list[str], seed: int, out: Path, options: list[str]) -> dict:
    place = out / f"{name}-{seed}"
    place.mkdir(parents=True, exist_ok=True)
    store, split = place / "graph", place / "split"
    if not split.exists():
        run(RANA, "import", *files, "--out", store, "-q")
        run(RANA, "split", store, "--candidates", "all", "--seed", seed, *options, "--out", split, "-q")
    say(f"{name}, split {seed}: learn")
    learned = place / "learned"
    cost = measure(RANA, "learn", split, "--out", learned, "-q")
    of_learned = card(learned)
    rows = {"learn": numbers(of_learned)}
    say(f"{name}, split {seed}: RANA")
    vectors, trained = place / "transe", place / "rana"
    if not trained.exists():
        run(RANA, "embed", split, "--out", vectors, "-q")
        run(RANA, "train", split, "--vectors", vectors, "--out", trained, "-q")
    of_rana = card(trained)
    rows["RANA"] = numbers(of_rana)
    rows |= {row: numbers(of) for row, of in of_rana["baselines"].items() if row in ROWS}
    say(f"{name}, split {seed}: TransE trained on the supports")
    supports = place / "transe-supports"
    if not supports.exists():
        run(RANA, "embed", split, "--facts", "supports", "--out", supports, "-q")
    rows["TransE trained on supports"] = numbers(card(split, "--vectors", supports))
    return {
        "graph": name,
        "split": seed,
        "relations": of_learned["protocol"]["tasks"],
        "queries": of_learned["protocol"]["queries"],
        "learn_seconds": cost["seconds"],
        "learn_peak_mb": cost["peak_mb"],
        "calibration_error": (of_learned.get("confidence") or {}).get("expected_error"),
        "rows": rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH=FILE[,FILE...]")
    parser.add_argument("--split-seeds", type=int, default=1, help="how many splits of each graph")
    parser.add_argument("--split", action="append", default=[], help="an option of `rana split`")
    parser.add_argument("--out", type=Path, default=Path("target/learn-beside"))
    args = parser.parse_args()
    say(json.dumps(machine()))
    for graph in args.graphs:
        name, files = graph.split("=", 1)
        for seed in range(args.split_seeds):
            print(json.dumps(compare(name, files.split(","), seed, args.out, args.split)), flush=True)


if __name__ == "__main__":
    main()
