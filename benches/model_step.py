#!/usr/bin/env python3
"""One training step of every published model: rana against PyTorch, in one run on one machine.

    python3 benches/model_step.py [--rounds 3] [--data ../shared/datasets/NELL-One]
    python3 benches/model_step.py --models faan gana --forms public
    python3 benches/model_step.py --threads 1

The preset of each model for NELL-One in pre-train mode, on random vectors of 100 numbers and norm 1, after 20 steps of
training, single precision. Nothing is dropped, so that both sides can agree.

rana writes its batch, its parameters and its gradients to a file (`crates/rana-models/benches/model_step.rs`); every
PyTorch process computes the same from it (`torch_models`) and must agree before it is timed. A *gradient* is the loss of
that batch and the gradient of all that learns; a *step* adds Adam, on the same batch again. In both, rana looks up the
neighbours of the batch and finds out which entities come up twice; PyTorch gets its tensors of ids ready made. `tuned` is
PyTorch with a glibc malloc that keeps large buffers. Every measurement is a fresh process, and the contestants take
turns within a round.

Where other programs want the same processors, the threads of PyTorch wait for each other much longer than those of rana,
and wall times say little. With one thread, *CPU* is then the fairer figure: processor time, the mean of a gradient and of a
step; of rana by the difference of two processes that do more and fewer of them.
"""

import argparse
import json
import os
import statistics
import sys
from pathlib import Path

from harness import DATA, ROOT, built_bench, machine, measure, positive, say, virtualenv

# The preset of each model.
PRESETS = {
    "metar": "nell-one-pretrain", "gmatching": "nell-one", "fsrl": "nell-one", "faan": "nell-one", "gana": "nell-one",
    "hire": "nell-one",
}
# Large buffers come from the heap and stay in it.
TUNED = {"MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 32), "MALLOC_TOP_PAD_": str(1 << 28)}
# The forms of `torch_models`, with the environment of each.
FORMS = {"public": {}, "trimmed": TUNED, "compiled": TUNED}
MEASURED = ("gradient", "step")
# How far from rana's the loss and every gradient may be, relative to their size.
TOLERANCE = 1e-4
TORCH = Path(__file__).resolve().parent / "torch_models"


def main() -> None:
    args = arguments()
    bench, python = built_bench("rana-models", "model_step"), virtualenv("torch", "numpy")
    DATA.mkdir(parents=True, exist_ok=True)
    models = {}
    for model in args.models:
        rounds = [one_round(number + 1, model, bench, python, args) for number in range(args.rounds)]
        models[model] = {"rounds": rounds, "summary": summary(rounds)}
        # After every model: a long run that is interrupted leaves what it has.
        args.out.write_text(json.dumps({"machine": machine(), "models": models}, indent=2) + "\n")
    say(f"written: {args.out}")
    print(table(models))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=positive, default=3, help="rounds of all contestants (default 3)")
    default = ROOT.parent / "shared" / "datasets" / "NELL-One"
    parser.add_argument("--data", type=Path, default=default, help="the release directory of NELL-One, or a graph of rana")
    parser.add_argument("--models", nargs="+", choices=PRESETS, default=list(PRESETS), help="which models (default all)")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS), help="which forms of PyTorch (default all)")
    parser.add_argument("--repeats", type=positive, default=20, help="steps that are timed in a process (default 20)")
    parser.add_argument("--threads", type=positive, default=2, help="threads of everyone (default 2)")
    parser.add_argument("--out", type=Path, default=DATA / "model-step.json", help="where the record goes")
    return parser.parse_args()


def one_round(number: int, model: str, bench: Path, python: Path, args: argparse.Namespace) -> dict:
    """What everyone measured, and the load of the machine before each."""
    dump = DATA / f"model-step-{os.getpid()}.safetensors"
    words = ["--model", model, "--preset", PRESETS[model], "--data", args.data, "--threads", args.threads]
    results = {}

    def add(name: str, command: list, environment: dict) -> dict:
        load = os.getloadavg()[0]
        # What the child inherits; put back right after.
        os.environ.update(environment)
        measured = measure(*command)
        for key in environment:
            del os.environ[key]
        out = json.loads(measured["stdout"].splitlines()[-1])
        results[name] = {**out, "load": load, "cpu_seconds": measured["cpu_seconds"]}
        times = ", ".join(f"{what} {out[f'{what}_ms']['median']:.1f} ms" for what in MEASURED)
        say(f"round {number}: {model}: {name}: {times} (load {load:.1f})")
        return out

    try:
        repeats = 2 * args.repeats
        few = measure(bench, *words, "--dump", dump, "--repeats", 1)["cpu_seconds"]
        expected = add("rana", [bench, *words, "--dump", dump, "--repeats", repeats], {})
        results["rana"]["cpu_ms"] = (results["rana"]["cpu_seconds"] - few) * 1e3 / (2 * (repeats - 1))
        for form in args.forms:
            name = f"{form}, tuned" if FORMS[form] else form
            found = add(name, [python, TORCH, dump, form, args.repeats, args.threads], FORMS[form])
            check(model, form, expected, found)
            results[name]["cpu_ms"] = statistics.mean(found[f"{what}_ms"]["cpu"] for what in MEASURED)
    finally:
        dump.unlink(missing_ok=True)
    return results


def check(model: str, form: str, expected: dict, found: dict) -> None:
    """Ends the run if a result is not that of rana."""
    found["loss_distance"] = abs(found["loss"] / expected["loss"] - 1)
    distances = found["gradient_distances"]
    wrong = {name: far for name, far in distances.items() if not far <= TOLERANCE}
    if wrong or not found["loss_distance"] <= TOLERANCE:
        loss = f"loss {found['loss']} instead of {expected['loss']}"
        sys.exit(f"{model}, {form}, computes something else: {loss}, gradients off by {wrong}")
    farthest = max(distances, key=distances.get)
    off = f"gradients by at most {distances[farthest]:.0e} ({farthest})"
    say(f"{model}, {form}: loss off by {found['loss_distance']:.0e}, {off}")


def summary(rounds: list) -> dict:
    """Median milliseconds, how many times those of rana they are, by medians and in each round, and how far results are."""
    result = {}
    for name in rounds[0]:
        own = result[name] = {}
        for what in MEASURED:
            of = lambda each, who: each[who][f"{what}_ms"]["median"]
            own[f"{what}_ms"] = statistics.median(of(each, name) for each in rounds)
            own[f"{what}_times_rana"] = own[f"{what}_ms"] / result["rana"][f"{what}_ms"]
            own[f"{what}_times_rana_by_round"] = [of(each, name) / of(each, "rana") for each in rounds]
        own["cpu_ms"] = statistics.median(each[name]["cpu_ms"] for each in rounds)
        own["cpu_times_rana"] = own["cpu_ms"] / result["rana"]["cpu_ms"]
        own["cpu_times_rana_by_round"] = [each[name]["cpu_ms"] / each["rana"]["cpu_ms"] for each in rounds]
        if name != "rana":
            own["loss_distance"] = max(abs(each[name]["loss"] / each["rana"]["loss"] - 1) for each in rounds)
            own["gradient_distance"] = max(max(each[name]["gradient_distances"].values()) for each in rounds)
    return result


def table(models: dict) -> str:
    rows = [
        "| model | | step, ms | times rana (rounds) | gradient, ms | times rana (rounds) | CPU, ms | times rana (rounds) "
        "| loss off by | gradients off by |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for model, record in models.items():
        for name, each in record["summary"].items():
            cells = [f"{each[f'{what}_ms']:.1f} | {times(each, what)}" for what in (*reversed(MEASURED), "cpu")]
            off = [f"{each[f'{what}_distance']:.0e}" if name != "rana" else "" for what in ("loss", "gradient")]
            rows.append(f"| {model} | {name} | {' | '.join(cells)} | {' | '.join(off)} |")
    loads = [of["load"] for record in models.values() for each in record["rounds"] for of in each.values()]
    return "\n".join([*rows, "", f"Load of the machine before each process: {min(loads):.1f} to {max(loads):.1f}."])


def times(each: dict, what: str) -> str:
    by_round = each[f"{what}_times_rana_by_round"]
    if all(ratio == 1 for ratio in by_round):
        return "1"
    return f"**{each[f'{what}_times_rana']:.1f}** ({', '.join(f'{ratio:.1f}' for ratio in by_round)})"


if __name__ == "__main__":
    main()
