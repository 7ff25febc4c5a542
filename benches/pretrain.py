#!/usr/bin/env python3
"""Pre-training of TransE: rana against plain PyTorch and PyKEEN, in one run on one machine.

    python3 benches/pretrain.py [--rounds 3] [--data ../shared/datasets/NELL-One] [--kinds one] [--rivals PyTorch]
    python3 benches/pretrain.py --curves     what an epoch costs, drawn into docs/benchmarks/
    python3 benches/pretrain.py --wiki-one   one epoch on a graph of Wiki-One's size

All train vectors of 100 numbers on the background facts of NELL-One with two threads, in two ways:
`one` has one negative per fact, a margin loss and SGD; `many` has 64 negatives, the self-adversarial
loss and Adagrad, the negatives being shared by 64 facts (PyKEEN cannot share them). Every fact is
asked for on one side per epoch. Every measurement is a fresh process, and the contestants take turns
within a round. A rate is the mean over all epochs of a process but the first; of the batch sizes that
are tried for PyTorch and PyKEEN, the fastest counts. With `one`, rana gets faster as facts come to
satisfy the margin and need no update, so its rate is that of a training of 30 epochs.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from harness import DATA, ROOT, built_bench, generated, machine, measure, positive, run, say, virtualenv

COUNTS = {"one": 1, "many": 64}
KINDS = tuple(COUNTS)
EPOCHS = {"one": 30, "many": 3}
# Their epochs are all alike, so a few tell as much.
RIVAL_EPOCHS = {"one": 6, "many": 3}
BATCHES = (1024, 8192)
# What every other figure is a multiple of.
PACKAGES = {"PyTorch": "torch", "PyKEEN": "pykeen"}
RIVALS = tuple(PACKAGES)
BENCHES = Path(__file__).resolve().parent


def main() -> None:
    args = arguments()
    bench = built_bench("rana-embed", "pretrain")
    DATA.mkdir(parents=True, exist_ok=True)
    if args.wiki_one:
        return finish(wiki_one(bench), DATA / "pretrain-wiki-one.json")
    if args.curves:
        return finish(curves(bench, args.data), DATA / "pretrain-curves.json", draw)
    python = virtualenv(*(PACKAGES[rival] for rival in args.rivals))
    everybody = entrants(bench, python, args.data, args.quick)
    contestants = {kind: takes_part(everybody[kind], args.rivals) for kind in args.kinds}
    rounds = [one_round(number + 1, contestants) for number in range(args.rounds)]
    record = {"machine": machine(), "rounds": rounds, "median": medians(rounds, args.rivals)}
    finish(record, args.out)
    print(table(record["median"], args.rivals))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=positive, default=3, help="rounds of all contestants (default 3)")
    default = ROOT.parent / "shared" / "datasets" / "NELL-One"
    parser.add_argument("--data", type=Path, default=default, help="the release directory of NELL-One")
    parser.add_argument("--out", type=Path, default=DATA / "pretrain.json", help="where the record goes")
    parser.add_argument("--quick", action="store_true", help="one setting per rival instead of their best")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="which trainings (default both)")
    parser.add_argument("--rivals", nargs="+", choices=RIVALS, default=RIVALS, help="beside whom (default all)")
    parser.add_argument("--curves", action="store_true", help="measure and draw what an epoch costs")
    parser.add_argument("--wiki-one", action="store_true", help="one epoch on a graph of Wiki-One's size")
    return parser.parse_args()


def finish(record: dict, path: Path, then=None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2) + "\n")
    say(f"written: {path}")
    if then:
        then(path)


def config(kind: str, updates: str = "deterministic", **changes) -> dict:
    """What rana trains with, as the fields of an `EmbedConfig`."""
    common = {"dim": 100, "batch": 1024, "updates": updates, "epochs": EPOCHS[kind]}
    if kind == "one":
        settings = {
            "learning_rate": 0.01,
            "loss": {"kind": "margin", "margin": 1.0},
            "optimiser": {"kind": "sgd"},
            "negatives": negatives(1, 1),
        }
    else:
        settings = {
            "learning_rate": 0.1,
            "loss": {"kind": "self-adversarial", "gamma": 6.0, "temperature": 1.0},
            "optimiser": {"kind": "adagrad"},
            "negatives": negatives(64, 64),
        }
    return {**common, **settings, **changes}


def negatives(count: int, shared_by: int) -> dict:
    return {"count": count, "shared_by": shared_by, "sides": "alternating", "filtered": False}


def toml(value) -> str:
    """A value of a TOML file; JSON but for tables."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)


def rana(bench: Path, data: Path, settings: dict, *more) -> dict:
    """The epochs of one training, and the time and memory of its process."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write("".join(f"{key} = {toml(value)}\n" for key, value in settings.items()))
        file.flush()
        measured = measure(bench, "--data", data, "--config", file.name, "--threads", 2, *more)
    return {**measured, "epochs": [json.loads(line) for line in measured.pop("stdout").splitlines()]}


def entrants(bench: Path, python: Path, data: Path, is_quick: bool) -> dict:
    """For each kind, who takes part: a name and what gives its facts per second."""
    path_graph = data / "path_graph"

    def of_rana(kind: str, updates: str):
        epochs = rana(bench, data, config(kind, updates))["epochs"]
        return mean_rate([epoch["facts_per_second"] for epoch in epochs])

    def of_script(script: str, kind: str, settings: list):
        rates = {}
        for setting in settings[: 1 if is_quick else None]:
            out = measure(python, BENCHES / script, path_graph, kind, *setting, RIVAL_EPOCHS[kind])["stdout"]
            rates[str(setting)] = mean_rate(json.loads(out.splitlines()[-1]))
        best = max(rates, key=rates.get)
        say(f"  {script} {kind}: best is {best} of {({key: round(rate) for key, rate in rates.items()})}")
        return rates[best]

    # `cdist` is two to five times faster than broadcasting the differences.
    ways = {"one": ("broadcast",), "many": ("cdist",)}
    # With 64 negatives of its own for every fact, PyKEEN slows down at large batches.
    pykeen_batches = {"one": [(8192,), (1024,)], "many": [(1024,), (256,)]}
    torch_settings = {kind: [(batch, way) for way in ways[kind] for batch in BATCHES] for kind in KINDS}
    return {
        kind: {
            "rana, deterministic": lambda kind=kind: of_rana(kind, "deterministic"),
            "rana, lock-free": lambda kind=kind: of_rana(kind, "lock-free"),
            "PyTorch": lambda kind=kind: of_script("torch_transe.py", kind, torch_settings[kind]),
            "PyKEEN": lambda kind=kind: of_script("pykeen_transe.py", kind, pykeen_batches[kind]),
        }
        for kind in KINDS
    }


def takes_part(entrants: dict, rivals: list) -> dict:
    """All of rana's, and those rivals that were asked for."""
    return {name: rate for name, rate in entrants.items() if name not in RIVALS or name in rivals}


def mean_rate(rates: list) -> float:
    """The rate over all epochs but the first, in which things warm up."""
    return statistics.harmonic_mean(rates[1:])


def one_round(number: int, contestants: dict) -> dict:
    results = {}
    for kind, entrants in contestants.items():
        results[kind] = {}
        for name, rate in entrants.items():
            results[kind][name] = rate()
            say(f"round {number}: {kind}: {name}: {results[kind][name]:,.0f} facts/s")
    return results


def medians(rounds: list, rivals: list) -> dict:
    """Median rates, and median ratios to the rivals within a round."""
    def of(kind: str, name: str) -> dict:
        ratios = {f"times {rival}": statistics.median(r[kind][name] / r[kind][rival] for r in rounds) for rival in rivals}
        return {"facts_per_second": statistics.median(r[kind][name] for r in rounds), **ratios}

    return {kind: {name: of(kind, name) for name in rounds[0][kind]} for kind in rounds[0]}


def table(median: dict, rivals: list) -> str:
    columns = ["", "negatives", "facts per second", *(f"times {rival}" for rival in rivals)]
    rows = ["| " + " | ".join(columns) + " |", "| --- |" + " ---: |" * (len(columns) - 1)]
    for kind, entrants in median.items():
        for name, each in entrants.items():
            ratios = " | ".join(f"{each[f'times {rival}']:.1f}" for rival in rivals)
            rows.append(f"| {name} | {COUNTS[kind]} | {each['facts_per_second']:,.0f} | {ratios} |")
    return "\n".join(rows)


def wiki_one(bench: Path) -> dict:
    """One epoch of each kind with vectors of 50 numbers."""
    data = generated()
    record = {"machine": machine()}
    for kind in KINDS:
        measured = rana(bench, data, config(kind, dim=50, epochs=1))
        seconds, peak = measured["epochs"][0]["seconds"], measured["peak_mb"]
        record[kind] = {"epoch_seconds": seconds, "process_seconds": measured["seconds"], "peak_mb": peak}
        print(f"wiki-one, {kind}: epoch {seconds:.2f} s, peak memory {peak:,.0f} MB")
    return record


def curves(bench: Path, data: Path) -> dict:
    """Seconds per epoch against the number of facts, the dimension and the number of negatives."""
    with (data / "path_graph").open() as lines:
        facts = sum(1 for _ in lines)

    def cost(kind: str, *more, **changes) -> float:
        epochs = rana(bench, data, config(kind, **changes), *more)["epochs"]
        seconds = min(epoch["seconds"] for epoch in epochs[1:])
        say(f"{kind} {changes} {more}: {seconds:.3f} s")
        return seconds

    parts = [facts * part // 8 for part in (1, 2, 4, 6, 8)]
    counts = (1, 4, 16, 64, 256, 1024)
    return {
        "machine": machine(),
        "facts": {kind: [(part, cost(kind, "--facts", part)) for part in parts] for kind in KINDS},
        "dimension": {kind: [(dim, cost(kind, dim=dim)) for dim in (25, 50, 100, 200, 400)] for kind in KINDS},
        "negatives": {"many": [(n, cost("many", negatives=negatives(n, n))) for n in counts]},
    }


# Runs inside the virtual environment.
DRAW = """
import json, sys
import matplotlib
matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "rana"
from matplotlib import pyplot
record = json.load(open(sys.argv[1]))
names = {"one": "1 negative, SGD", "many": "64 negatives, Adagrad"}
figure, panels = pyplot.subplots(1, 3, figsize=(11, 3.4))
for panel, axis in zip(panels, ("facts", "dimension", "negatives")):
    for kind, points in record[axis].items():
        label = "shared by as many facts" if axis == "negatives" else names[kind]
        panel.plot(*zip(*points), marker="o", label=label)
    panel.set(xlabel=axis, ylabel="seconds per epoch", xscale="log", yscale="log")
    places = [x for x, _ in points]
    panel.set_xticks(places, [f"{x / 1000:.0f} k" if x > 9999 else str(x) for x in places], fontsize=8)
    panel.minorticks_off()
    # Room for the legend above the lines.
    panel.set_ylim(top=panel.get_ylim()[1] * 4)
    panel.grid(True, alpha=0.2)
    panel.legend(frameon=False, loc="upper left")
figure.suptitle("TransE on NELL-One, 2 threads")
figure.tight_layout()
figure.savefig(sys.argv[2], metadata={"Date": None})
"""


def draw(record: Path) -> None:
    out = ROOT / "docs" / "benchmarks" / "pretrain-cost.svg"
    out.parent.mkdir(parents=True, exist_ok=True)
    run(virtualenv("matplotlib"), "-c", DRAW, record, out)
    say(f"drawn: {out}")


if __name__ == "__main__":
    main()
