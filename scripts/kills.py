#!/usr/bin/env python3
"""`kill -9` at random moments of import, embed, train, learn and reproduce; then to the end.

    python3 scripts/kills.py [--rana target/release/rana] [--kills 20] [--only learn]

Each command runs once without interruption, then again with kills until it is done. Both must leave the same vectors,
models and evidence, byte for byte, and the same list of files: no litter. A command that ends before it is killed is compared
and begun again in a new directory, until there were so many kills in time. Prints one line for each command and exits
with 1 if one fails. Only the standard library is needed; the graph is random.
"""

import argparse
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

# What depends on the clock, or names such a file's checksum.
TIMED = {"run.json", "metrics.jsonl", "manifest.json", "learning.json", "results.json", "results.jsonl", "metadata.json"}

# Commands that are resumed by an option; the others by the same command.
RESUMED = {"embed", "train"}


def content(folder):
    """Every file below a folder, with a checksum where its bytes must not depend on the clock."""
    found = {}
    for path, _, files in os.walk(folder):
        for name in files:
            place = os.path.join(path, name)
            is_timed = name in TIMED or name.endswith((".md", ".html", ".svg", ".csv", ".json")) and name not in ("evidence.json", "quality.json")
            with open(place, "rb") as data:
                digest = "" if is_timed else hashlib.sha256(data.read()).hexdigest()
            found[os.path.relpath(place, folder)] = digest
    return found


def killed(command, folder, seconds, rng):
    """Starts a command and kills it within some seconds. `None` if that was in time, else how it ended."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(rng.uniform(0.01, 1.0) * seconds)
    ended = process.poll()
    process.kill()
    process.wait()
    return ended


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rana", default="target/release/rana")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--only")
    options = parser.parse_args()
    rana = os.path.abspath(options.rana)
    rng = random.Random(0)
    base = tempfile.mkdtemp(prefix="rana-kills-")

    def run(folder, *arguments):
        done = subprocess.run([rana, *arguments, "--quiet"], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"rana {' '.join(arguments)}: {done.stderr}")

    with open(os.path.join(base, "facts.tsv"), "w") as facts:
        for _ in range(60_000):
            head, relation = rng.randrange(6_000), min(rng.randrange(500), rng.randrange(500))
            facts.write(f"e{head}\tr{relation}\te{(head * (relation + 3) + rng.randrange(3)) % 6_000}\n")
    run(base, "import", "facts.tsv", "--out", "kg")
    run(base, "split", "kg", "--out", "split")
    run(base, "embed", "split", "--out", "vectors", "--model", "transe", "--epochs", "3")
    small = "head -n 6000 facts.tsv > small.tsv"
    subprocess.run(small, shell=True, cwd=base, check=True)
    commands = {
        "import": ["import", "../facts.tsv", "--out", "out"],
        "embed": ["embed", "../kg", "--out", "out", "--model", "transe", "--epochs", "4", "--checkpoint-every", "0.05"],
        "train": ["train", "../split", "--vectors", "../vectors", "--out", "out", "--set", "steps=40", "--set", "eval_every=10",
                  "--checkpoint-every", "0.05"],
        "learn": ["learn", "../small.tsv", "--out", "out"],
        "reproduce": ["reproduce", "table2", "--fast", "--out", "out"],
    }
    failed = False
    for name, arguments in commands.items():
        if options.only not in (None, name):
            continue
        whole = os.path.join(base, name + "-whole")
        os.mkdir(whole)
        started = time.monotonic()
        run(whole, *arguments)
        seconds = time.monotonic() - started
        expected = content(os.path.join(whole, "out"))
        in_time, ends, wrong = 0, 0, None
        while in_time < options.kills and wrong is None:
            broken = os.path.join(base, f"{name}-broken-{ends}")
            os.mkdir(broken)

            def command():
                resumed = name in RESUMED and can_resume(broken)
                return [rana, *(resumption(arguments) if resumed else arguments), "--quiet"]

            ended, said = None, ""
            while in_time < options.kills and ended is None:
                ended = killed(command(), broken, 0.4 * seconds, rng)
                in_time += ended is None
            if ended is None:
                done = subprocess.run(command(), cwd=broken, capture_output=True, text=True)
                ended, said = done.returncode, done.stderr[-500:]
            ends += 1
            found = content(os.path.join(broken, "out"))
            if ended != 0 or found != expected:
                differs = sorted(key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key))
                wrong = f"exit code {ended} {said} {differs}"
        failed |= wrong is not None
        outcome = "same bits, no litter" if wrong is None else f"DIFFERENT: {wrong}"
        print(f"{name}: {seconds:.1f} s whole, {in_time} kills in time, {ends} times to the end, {outcome}", flush=True)
    if not failed:
        shutil.rmtree(base)
    sys.exit(1 if failed else 0)


def can_resume(folder):
    """Whether a killed run left something that `--resume` takes."""
    out = os.path.join(folder, "out")
    # A finished training has no checkpoint any more; resuming it changes nothing.
    return any(name.startswith("checkpoint") or name == "run.json" for name in os.listdir(out)) if os.path.isdir(out) else False


def resumption(arguments):
    """The same command as a resumption, which takes its settings from the checkpoint."""
    kept, skip = [], False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in ("--set", "--model", "--epochs", "--vectors"):
            skip = True
        else:
            kept.append(argument)
    return kept + ["--resume"]


if __name__ == "__main__":
    main()
