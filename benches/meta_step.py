#!/usr/bin/env python3
"""One meta-training step of RANA: rana against PyTorch, in one run on one machine.

    python3 benches/meta_step.py [--rounds 3] [--data ../shared/datasets/NELL-One]
    python3 benches/meta_step.py --settings 512x100 512x100,filled 512x100,copy

A setting is TASKSxDIMENSION: 5 support pairs and 3 queries per task, 5 negatives each, up to 25
neighbours, two threads, single precision, on NELL-One with random vectors of norm 1. `filled` gives every
entity 25 neighbours by random facts; else it has those of the graph, and PyTorch fills the places up,
while rana passes them by. With `copy` the scored entity rows learn, else only the network does.

rana writes its batch, its parameters and its gradients to a file; every PyTorch process computes the same
from it and must agree before it is timed. A *gradient* is the loss of that batch and the gradient of all
that learns; a *step* adds Adam, on the same batch again; a *drawn step*, of rana alone, is on a batch that
it draws with its negatives, which PyTorch would have to do beside its steps. `tuned` is PyTorch with a
glibc malloc that keeps large buffers. Every measurement is a fresh process, and the contestants take turns
within a round.
"""

import argparse
import json
import os
import statistics
import sys
from pathlib import Path

from harness import DATA, ROOT, built_bench, machine, measure, positive, say, virtualenv

FORMS = ("literal", "factored", "compiled")
# Large buffers come from the heap and stay in it.
TUNED = {"MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 32), "MALLOC_TOP_PAD_": str(1 << 28)}
# What is measured of everyone.
MEASURED = ("gradient", "step")
SETTINGS = ("64x50", "512x50", "64x100", "512x100")
# How far from rana's a loss and a gradient may be, relative to their size. A first step of Adam has the
# size of the learning rate wherever the gradient is not zero, so that rounding may turn it around.
LOSS_TOLERANCE, GRADIENT_TOLERANCE, ROW_TOLERANCE = 1e-4, 1e-3, 1e-2
TORCH = Path(__file__).resolve().parent / "torch_rana.py"


def main() -> None:
    args = arguments()
    bench, python = built_bench("rana-models", "meta_step"), virtualenv("torch", "numpy")
    DATA.mkdir(parents=True, exist_ok=True)
    settings = {}
    for setting in args.settings:
        rounds = [one_round(number + 1, setting, bench, python, args) for number in range(args.rounds)]
        settings[setting] = {"rounds": rounds, "median": medians(rounds)}
        # After every setting: a long run that is interrupted leaves what it has.
        args.out.write_text(json.dumps({"machine": machine(), "settings": settings}, indent=2) + "\n")
    say(f"written: {args.out}")
    print(table(settings))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=positive, default=3, help="rounds of all contestants (default 3)")
    default = ROOT.parent / "shared" / "datasets" / "NELL-One"
    parser.add_argument("--data", type=Path, default=default, help="the release directory of NELL-One")
    parser.add_argument("--out", type=Path, default=DATA / "meta-step.json", help="where the record goes")
    parser.add_argument("--settings", nargs="+", default=SETTINGS, help=f"what to measure (default {' '.join(SETTINGS)})")
    return parser.parse_args()


def one_round(number: int, setting: str, bench: Path, python: Path, args: argparse.Namespace) -> dict:
    """The milliseconds of everyone, and the load of the machine before each."""
    size, *ways = setting.split(",")
    tasks, dim = map(int, size.split("x"))
    entities = "copy" if "copy" in ways else "frozen"
    repeats = 10 if tasks > 100 else 40
    dump = DATA / f"meta-step-{os.getpid()}.safetensors"
    words = ["--tasks", tasks, "--dim", dim, "--entities", entities, "--repeats", 4 * repeats, "--threads", 2]
    if "filled" in ways:
        words.append("--fill")
    results = {}

    def add(name: str, command: list, environment: dict) -> dict:
        load = os.getloadavg()[0]
        # What the child inherits; put back right after.
        os.environ.update(environment)
        out = json.loads(measure(*command)["stdout"].splitlines()[-1])
        for key in environment:
            del os.environ[key]
        results[name] = {**out, "load": load}
        times = ", ".join(f"{what} {out[f'{what}_ms']['median']:.1f} ms" for what in (*MEASURED, "drawn_step") if f"{what}_ms" in out)
        say(f"round {number}: {setting}: {name}: {times} (load {load:.1f})")
        return out

    try:
        expected = add("rana", [bench, "--data", args.data, "--dump", dump, *words], {})
        for form in FORMS:
            for allocator, environment in (("", {}), (", tuned", TUNED)):
                command = [python, TORCH, dump, form, entities, repeats]
                check(form, expected, add(f"PyTorch {form}{allocator}", command, environment))
    finally:
        dump.unlink(missing_ok=True)
    return results


def check(form: str, expected: dict, found: dict) -> None:
    """Ends the run if a result is not that of rana."""
    loss = abs(found["loss"] / expected["loss"] - 1)
    tolerance = lambda name: ROW_TOLERANCE if name.startswith("rows") else GRADIENT_TOLERANCE
    wrong = {name: far for name, far in found["gradient_distances"].items() if not far <= tolerance(name)}
    if wrong or not loss <= LOSS_TOLERANCE:
        sys.exit(f"{form} computes something else: loss {found['loss']} instead of {expected['loss']}, gradients off by {wrong}")


def medians(rounds: list) -> dict:
    """Median milliseconds, and how many times those of rana they are."""
    def of(name: str, what: str) -> float:
        return statistics.median(each[name][f"{what}_ms"]["median"] for each in rounds)

    result = {"rana": {"drawn_step_ms": of("rana", "drawn_step")}}
    for name in rounds[0]:
        own = result.setdefault(name, {})
        own |= {f"{what}_ms": of(name, what) for what in MEASURED}
        own |= {f"{what}_times_rana": of(name, what) / of("rana", what) for what in MEASURED}
        own["step_times_drawn"] = of(name, "step") / of("rana", "drawn_step")
    return result


def table(settings: dict) -> str:
    rows = [
        "| setting | | gradient, ms | times rana | step, ms | times rana | times rana with drawing |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for setting, record in settings.items():
        for name, each in record["median"].items():
            cells = [f"{each[f'{what}_ms']:.1f} | {each[f'{what}_times_rana']:.1f}" for what in MEASURED]
            drawn = f"({each['drawn_step_ms']:.1f} ms)" if "drawn_step_ms" in each else f"{each['step_times_drawn']:.1f}"
            rows.append(f"| {setting} | {name} | {' | '.join(cells)} | {drawn} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
