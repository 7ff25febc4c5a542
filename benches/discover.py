#!/usr/bin/env python3
"""`rana discover` beside vectors that score every pair of seen ends, on a graph with facts withheld at random.

    benches/discover.py GRAPH=FILE[,FILE...] --out DIR [--share 0.05] [--seed N]

Withholds a share of all facts, imports the others and asks for the best new facts of all relations. Then trains vectors of TransE and
ComplEx on the same facts and takes the best pairs of their raw scores over all relations, among the heads and tails that each relation is
known to have; this is how `discover_facts` of AmpliGraph works, with all candidates instead of a sample. Needs NumPy.
Prints the precision at 100, 1,000 and 10,000 against the withheld facts, as a table in Markdown and one line of JSON.
"""

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path

from harness import RANA, machine, measure, say

LISTED = 10_000
AT = [100, 1_000, 10_000]


def facts_of(files: list[str]) -> list[tuple[str, str, str]]:
    facts = {}
    for file in files:
        for line in Path(file).read_text().splitlines():
            parts = line.split("\t") if "\t" in line else line.split(",")
            if len(parts) == 3:
                facts[tuple(parts)] = None
    return list(facts)


def precisions(found: list[tuple[str, str, str]], withheld: set) -> dict:
    right = [fact in withheld for fact in found]
    return {str(at): sum(right[:at]) / at for at in AT}


def by_vectors(model: str, kg: Path, kept: list, place: Path) -> tuple[list, float]:
    """The best pairs by the raw scores of vectors, and how long the training took."""
    import numpy as np

    cost = measure(RANA, "embed", kg, "--model", model, "--dim", 100, "-q")
    exported = place / f"{model}-npy"
    measure(RANA, "export", kg, "--model", model, "--format", "npy", "--out", exported, "-q")
    entities, relations = (np.load(exported / f"{of}2vec.npy").astype(np.float32) for of in ("entity", "relation"))
    # Ids are in the order of first appearance.
    ids: tuple[dict, dict] = ({}, {})
    for head, relation, tail in kept:
        for of, name in ((0, head), (1, relation), (0, tail)):
            ids[of].setdefault(name, len(ids[of]))
    assert len(ids[0]) == len(entities)
    names, numbers = list(ids[0]), ids[1]
    known = defaultdict(set)
    for head, relation, tail in kept:
        known[relation].add((ids[0][head], ids[0][tail]))
    best: list[tuple[float, int, str, int]] = []
    for relation, pairs in known.items():
        heads, tails = (np.array(sorted({pair[end] for pair in pairs})) for end in (0, 1))
        row = relations[numbers[relation]]
        of_tails = entities[tails]
        for start in range(0, len(heads), 512):
            part = heads[start : start + 512]
            if model == "transe":
                aim = entities[part] + row
                scores = -(np.square(aim).sum(1)[:, None] + np.square(of_tails).sum(1)[None, :] - 2 * aim @ of_tails.T)
            else:
                half = entities.shape[1] // 2
                (re, im), (a, b) = (entities[part][:, :half], entities[part][:, half:]), (row[:half], row[half:])
                aim = np.concatenate([re * a - im * b, re * b + im * a], axis=1)
                scores = aim @ of_tails.T
            flat = scores.ravel()
            take = np.argpartition(-flat, min(2 * LISTED, len(flat) - 1))[: 2 * LISTED] if len(flat) > 1 else [0]
            for at in take:
                pair = (int(part[at // len(tails)]), int(tails[at % len(tails)]))
                if pair not in known[relation] and pair[0] != pair[1]:
                    best.append((float(flat[at]), pair[0], relation, pair[1]))
        if len(best) > 20 * LISTED:
            best = sorted(best, reverse=True)[:LISTED]
    best = sorted(best, reverse=True)[:LISTED]
    return [(names[head], relation, names[tail]) for _, head, relation, tail in best], cost["seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", metavar="GRAPH=FILES")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only-rana", action="store_true", help="without the vectors")
    arguments = parser.parse_args()
    name, files = arguments.graph.split("=", 1)
    place = arguments.out / f"{name}-{arguments.seed}"
    place.mkdir(parents=True, exist_ok=True)
    facts = facts_of(files.split(","))
    drawn = set(random.Random(arguments.seed).sample(range(len(facts)), round(arguments.share * len(facts))))
    kept = [fact for at, fact in enumerate(facts) if at not in drawn]
    withheld = {facts[at] for at in drawn}
    kept_file = place / "kept.tsv"
    kept_file.write_text("".join("\t".join(fact) + "\n" for fact in kept))
    kg, listed = place / "kg", place / "found.tsv"
    measure(RANA, "import", kept_file, "--out", kg, "-q")
    say(f"{name}: discover from {len(kept)} facts, {len(withheld)} withheld")
    cost = measure(RANA, "discover", kg, "--top", LISTED, "--out", listed, "-q")
    found = [tuple(line.split("\t")[:3]) for line in listed.read_text().splitlines()[1:]]
    rows = {"rana discover": precisions(found, withheld)}
    seconds = {"rana discover": cost["seconds"]}
    for model in [] if arguments.only_rana else ["transe", "complex"]:
        say(f"vectors: {model}")
        found, took = by_vectors(model, kg, kept, place)
        rows[f"{model}, 100 numbers"], seconds[model] = precisions(found, withheld), took
    print(machine())
    print(f"\n| {name}, {len(withheld)} facts withheld | " + " | ".join(f"precision at {at}" for at in AT) + " |")
    print("| --- |" + " ---: |" * len(AT))
    for row, of in rows.items():
        print(f"| {row} | " + " | ".join(f"{of[str(at)]:.3f}" for at in AT) + " |")
    print(json.dumps({"graph": name, "seed": arguments.seed, "precision": rows, "seconds": seconds}))


if __name__ == "__main__":
    main()
