#!/usr/bin/env python3
"""Confidence and `--precision` on relations that the graph has, asked about the facts that it lacks.

    benches/known_relations.py NAME=FILE[,FILE...] ... [--relations 30] [--share 0.3] [--out DIR]

Of some relations a share of the facts is taken away. `rana learn` learns from the rest, and each of these relations is completed without
any examples, as a user would: for the heads that lost a fact. An answer is right if its fact was taken away. Prints one line of JSON
for each graph: the expected calibration error over the ten best answers of each head, and for each precision that is asked
how many answers came and what share of them was right.
"""

import argparse
import csv
import json
import random
import subprocess
from collections import defaultdict
from pathlib import Path

from harness import RANA, run, say

PRECISIONS = [0.5, 0.8]
BINS = 10


def facts_of(files: list[str]) -> list[tuple[str, str, str]]:
    """The facts of delimited files without a header: head, relation, tail."""
    facts = set()
    for file in files:
        with open(file, newline="", encoding="utf-8") as lines:
            separator = "\t" if "\t" in lines.readline() else ","
            lines.seek(0)
            facts |= {tuple(row) for row in csv.reader(lines, delimiter=separator)}
    return sorted(facts)


def answers(learned: Path, relation: str, heads: Path, *options) -> list[dict] | None:
    """The answers; none if a precision is asked that cannot be promised."""
    command = [RANA, "complete", learned, "--relation", relation, "--heads", heads, "--format", "jsonl", "-q", *options]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode == 2 and "no confidence promises" in done.stderr:
        return None
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def calibration_error(judged: list[tuple[float, bool]]) -> float:
    bins = defaultdict(list)
    for confidence, is_right in judged:
        bins[min(int(confidence * BINS), BINS - 1)].append((confidence, is_right))
    gaps = [abs(sum(c for c, _ in of) - sum(r for _, r in of)) for of in bins.values()]
    return sum(gaps) / max(len(judged), 1)


def examine(name: str, files: list[str], args: argparse.Namespace) -> dict:
    place = args.out / name
    place.mkdir(parents=True, exist_ok=True)
    rng = random.Random(args.seed)
    by_relation = defaultdict(list)
    facts = facts_of(files)
    for head, relation, tail in facts:
        by_relation[relation].append((head, tail))
    fitting = [relation for relation, pairs in sorted(by_relation.items()) if args.least <= len(pairs) <= args.most]
    chosen = sorted(rng.sample(fitting, min(args.relations, len(fitting))))
    taken = {relation: set(rng.sample(by_relation[relation], int(args.share * len(by_relation[relation])))) for relation in chosen}
    known = place / "known.tsv"
    with known.open("w", encoding="utf-8") as out:
        out.writelines(f"{h}\t{r}\t{t}\n" for h, r, t in facts if (h, t) not in taken.get(r, ()))
    learned = place / "learned"
    say(f"{name}: learn")
    run(RANA, "learn", known, "--out", learned, "-q")
    say(f"{name}: complete {len(chosen)} relations")
    judged, asked, judge = [], {wanted: [] for wanted in PRECISIONS}, place / "heads.txt"
    for relation in chosen:
        judge.write_text("".join(f"{head}\n" for head in sorted({head for head, _ in taken[relation]})), encoding="utf-8")

        def is_right(of):
            return (of["head"], of["tail"]) in taken[relation]

        judged += [(of["confidence"], is_right(of)) for of in answers(learned, relation, judge) if of["confidence"] is not None]
        for wanted in PRECISIONS:
            found = answers(learned, relation, judge, "--precision", wanted)
            asked[wanted].append(found and [is_right(of) for of in found])
    precision = {}
    for wanted, lists in asked.items():
        if None in lists:
            precision[wanted] = "refused"
            continue
        count = sum(map(len, lists))
        precision[wanted] = {"answers": count, "right": sum(map(sum, lists)) / count if count else None}
    return {
        "graph": name,
        "relations": len(chosen),
        "taken": sum(map(len, taken.values())),
        "answers": len(judged),
        "right": sum(right for _, right in judged) / max(len(judged), 1),
        "calibration_error": calibration_error(judged),
        "precision": precision,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", metavar="NAME=FILE[,FILE...]")
    parser.add_argument("--relations", type=int, default=30, help="how many relations lose facts")
    parser.add_argument("--share", type=float, default=0.3, help="the share of their facts that is taken away")
    parser.add_argument("--least", type=int, default=40, help="the fewest facts of such a relation")
    parser.add_argument("--most", type=int, default=2000, help="the most facts of such a relation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("target/known-relations"))
    args = parser.parse_args()
    for graph in args.graphs:
        name, files = graph.split("=", 1)
        print(json.dumps(examine(name, files.split(","), args)), flush=True)


if __name__ == "__main__":
    main()
