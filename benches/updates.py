#!/usr/bin/env python3
"""`rana update` beside learning anew: its time, and answers about entities that came with it.

    benches/updates.py GRAPH=FILE[,FILE...] --out DIR [--share 0.01] [--seed N]

Chooses entities at random until their facts are the given share of all, and learns without these facts. One fact of each entity is
withheld; the others are the update. Asks for the withheld tails with the relation's known facts as examples, among all entities, three times: after the
update, after learning anew from all facts but the withheld ones, and for the popularity of tails. Prints a table in Markdown and one line of JSON.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

from discover import facts_of
from harness import RANA, machine, measure, say

ASKED = 200
DEEP = 2000


def mrr(directory: Path, asked: list, known: dict) -> float:
    """The mean reciprocal rank of the tails, other known tails left out."""
    total = 0.0
    by_relation = defaultdict(list)
    for fact in asked:
        by_relation[fact[1]].append(fact)
    for relation, facts in by_relation.items():
        heads = [part for head, _, _ in facts for part in ("--head", head)]
        command = [RANA, "complete", directory, "--relation", relation, *heads, "--top", DEEP, "--json", "-q"]
        results = json.loads(measure(*command)["stdout"])["results"]
        answers = {row["head"]["name"]: [answer["tail"]["name"] for answer in row["answers"]] for row in results}
        for head, _, tail in facts:
            rivals = [of for of in answers[head] if of == tail or of not in known[head, relation]]
            total += 1 / (1 + rivals.index(tail)) if tail in rivals else 0.0
    return total / len(asked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", metavar="GRAPH=FILES")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    name, files = arguments.graph.split("=", 1)
    place = arguments.out / f"{name}-{arguments.seed}"
    place.mkdir(parents=True, exist_ok=True)
    facts = facts_of(files.split(","))
    of_entity = defaultdict(list)
    for fact in facts:
        of_entity[fact[0]].append(fact)
        of_entity[fact[2]].append(fact)
    rng = random.Random(arguments.seed)
    entities = sorted(entity for entity, of in of_entity.items() if 3 <= len(of) <= 30)
    rng.shuffle(entities)
    new, gone = set(), set()
    for entity in entities:
        if len(gone) >= arguments.share * len(facts):
            break
        new.add(entity)
        gone.update(of_entity[entity])
    base = [fact for fact in facts if fact not in gone]
    seen = {entity for head, _, tail in base for entity in (head, tail)}
    relations = Counter(fact[1] for fact in base)
    asked = []
    for entity in sorted(new):
        own = [fact for fact in of_entity[entity] if fact[0] == entity and fact[2] in seen and relations[fact[1]] >= 20]
        if own and len(of_entity[entity]) >= 3:
            asked.append(rng.choice(own))
    asked = rng.sample(asked, min(ASKED, len(asked)))
    withheld = set(asked)
    update = [fact for fact in facts if fact in gone and fact not in withheld]
    known = defaultdict(set)
    for head, relation, tail in facts:
        known[head, relation].add(tail)

    def write(file: str, of: list) -> Path:
        (place / file).write_text("".join("\t".join(fact) + "\n" for fact in of))
        return place / file

    learned, anew = place / "learned", place / "anew"
    say(f"{name}: learn from {len(base)} facts")
    learning = measure(RANA, "learn", write("base.tsv", base), "--out", learned, "-q")
    file = write("update.tsv", update)
    say(f"update with {len(update)} facts")
    cost = measure(RANA, "update", learned, file, "--json", "-q")
    report = json.loads(cost["stdout"])
    say("learn anew")
    measure(RANA, "learn", write("all.tsv", base + update), "--out", anew, "-q")
    popular = defaultdict(Counter)
    for _, relation, tail in base + update:
        popular[relation][tail] += 1
    trivial = 0.0
    for head, relation, tail in asked:
        order = [of for of, _ in popular[relation].most_common() if of == tail or of not in known[head, relation]]
        trivial += 1 / (1 + order.index(tail)) if tail in order else 0.0
    rows = {
        "after the update": mrr(learned, asked, known),
        "after learning anew": mrr(anew, asked, known),
        "popularity of tails": trivial / len(asked),
    }
    print(machine())
    print(f"\n| {name}: {len(asked)} facts of {len(new)} new entities | MRR |\n| --- | ---: |")
    for row, value in rows.items():
        print(f"| {row} | {value:.3f} |")
    seconds = {"update": cost["seconds"], "learn": learning["seconds"]}
    print(json.dumps({"graph": name, "seed": arguments.seed, "mrr": rows, "seconds": seconds, "report": report}))


if __name__ == "__main__":
    main()
