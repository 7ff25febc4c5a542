#!/usr/bin/env python3
"""How well heads, tails and relations are found, beside what learns nothing.

    benches/both_directions.py GRAPH=FILE[,FILE...] ... [--out DIR] [--seed N]

Learns from each graph. `rana learn` leaves relations out in turn and measures on them: tails of a head, heads of a tail, and the relation
between two entities, each beside rows that learn nothing. What is trusted is learned from other relations than those that are asked for.
Prints a table in Markdown for each graph, and one line of JSON.
"""

import argparse
import json
from pathlib import Path

from harness import RANA, machine, measure, say

QUESTIONS = {"tails of a head": [], "heads of a tail": ["heads"], "the relation of two entities": ["relating"]}


def rows(quality: dict, place: list[str]) -> dict:
    for key in place:
        quality = quality.get(key) or {}
    return {row["name"]: [row["mrr"], row["mrr_error"]] for row in quality.get("rows", [])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH=FILES")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(machine())
    for graph in arguments.graphs:
        name, files = graph.split("=", 1)
        place = arguments.out / f"{name}-{arguments.seed}"
        say(f"{name}: learn")
        cost = measure(RANA, "learn", *files.split(","), "--out", place, "--seed", arguments.seed, "-q")
        quality = json.loads((place / "quality.json").read_text())
        found = {question: rows(quality, keys) for question, keys in QUESTIONS.items()}
        relating = quality.get("relating") or {}
        print(f"\n**{name}**: {len(quality['relations'])} relations left out, {relating.get('among')} relations in all\n")
        print("| question | row | MRR |\n| --- | --- | ---: |")
        for question, of in found.items():
            for row, (mrr, error) in sorted(of.items(), key=lambda row: -row[1][0]):
                print(f"| {question} | {row} | {mrr:.3f} ± {error or 0:.3f} |")
        about = {"graph": name, "seed": arguments.seed, "found": found, "seconds": cost.get("seconds")}
        print(json.dumps(about | {"relating_error": relating.get("expected_error")}), flush=True)


if __name__ == "__main__":
    main()
