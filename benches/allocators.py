#!/usr/bin/env python3
"""The same program with several allocators, by turns: import, embed, learn and serve.

    python3 benches/allocators.py musl=FILE mimalloc=FILE [NAME=FILE ...] [--facts FILE] [--rounds 3]

The static binary is built twice; all other settings are those of scripts/release.sh:

    cargo build --release --target x86_64-unknown-linux-musl -p rana-cli
    cargo build --release --target x86_64-unknown-linux-musl -p rana-cli --features musl-allocator

Measured is the CPU time (user and system) and the peak of resident memory. Elapsed time would say more about other work on the
machine than about allocators. The order of the programs changes from round to round. Results of all programs must be the same.
"""

import argparse
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from harness import DATA, ROOT, machine, positive, say

CLIENTS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = ROOT.parent / "shared" / "datasets" / "FB15k-237" / "train.txt"
    parser.add_argument("programs", nargs="+", metavar="NAME=FILE", help="programs; ratios are to the first")
    parser.add_argument("--facts", type=Path, default=default, help="facts, separated by tabs (default: FB15k-237)")
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("--epochs", type=positive, default=3, help="of `embed` (default 3)")
    parser.add_argument("--learned", type=positive, default=10_000, help="facts that `learn` and `serve` get (default 10000)")
    parser.add_argument("--requests", type=positive, default=2000, help="completions of a served run (default 2000)")
    parser.add_argument("--out", type=Path, default=DATA / "allocators.json", help="where the record goes")
    args = parser.parse_args()
    programs = {name: str(Path(file).resolve()) for name, file in (each.split("=", 1) for each in args.programs)}
    rounds = []
    with tempfile.TemporaryDirectory(prefix="rana-allocators-") as scratch:
        scratch = Path(scratch)
        with args.facts.open() as lines, (scratch / "few.tsv").open("w") as few:
            few.writelines(line for line, _ in zip(lines, range(args.learned)))
        results = {}
        for number in range(args.rounds):
            found = {}
            names = list(programs)
            for name in names[number % len(names):] + names[: number % len(names)]:
                found[name] = one(programs[name], args, scratch, results)
                say(f"round {number + 1}: {name}: {json.dumps(found[name])}")
            rounds.append(found)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps({"machine": machine(), "rounds": rounds}, indent=2) + "\n")
    print(table(list(programs), rounds))


def one(program: str, args: argparse.Namespace, scratch: Path, results: dict) -> dict:
    """All work of one program in one round."""
    for made in ("kg", "vectors", "learned"):
        shutil.rmtree(scratch / made, ignore_errors=True)

    def command(*arguments) -> dict:
        child = subprocess.Popen([program, *map(str, arguments), "--quiet"], cwd=scratch)
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            sys.exit(f"{program} {' '.join(map(str, arguments))}: status {status}")
        return {"cpu": usage.ru_utime + usage.ru_stime, "peak_mb": usage.ru_maxrss * 1024 / 1e6}

    found = {
        "import": command("import", args.facts.resolve(), "--out", "kg"),
        "embed": command("embed", "kg", "--epochs", args.epochs, "--seed", 1, "--out", "vectors"),
        "learn": command("learn", "few.tsv", "--out", "learned", "--seed", 1),
    }
    for file in [*(scratch / "vectors").glob("*.safetensors"), *(scratch / "learned").glob("vectors/*/*.safetensors")]:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        name = str(file.relative_to(scratch))
        if results.setdefault(name, digest) != digest:
            sys.exit(f"{program}: {name} has other bytes than before")
    found["serve"] = serve(program, scratch, args.requests)
    return found


def serve(program: str, scratch: Path, requests: int) -> dict:
    """CPU and memory of a server that answers a fixed number of completions."""
    decisions = scratch / "decisions.jsonl"
    decisions.unlink(missing_ok=True)
    child = subprocess.Popen([program, "serve", "learned", "--listen", "127.0.0.1:0", "--json", "--decisions", decisions],
                             cwd=scratch, stdout=subprocess.PIPE, text=True)
    try:
        text = ""
        for line in child.stdout:
            text += line
            if line.strip() == "}":
                break
        host, port = json.loads(text)["address"].rsplit(":", 1)

        def ask(connection, method: str, path: str, body=None):
            connection.request(method, path, body and json.dumps(body), {"content-type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
            if answer.status != 200:
                raise SystemExit(f"{path}: {answer.status} {content[:300]}")
            return json.loads(content)

        first = http.client.HTTPConnection(host, int(port))
        relations = [of["name"] for of in ask(first, "GET", "/v1/relations")["relations"]][:20]
        heads = [line.split("\t")[0] for line in (scratch / "few.tsv").read_text().splitlines()]

        def client(number: int) -> None:
            connection = http.client.HTTPConnection(host, int(port))
            for at in range(number, requests, CLIENTS):
                body = {"relation": relations[at % len(relations)], "top": 5}
                ask(connection, "POST", "/v1/complete", body | {"heads": [heads[37 * at % len(heads)]], "reasons": True})

        threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        status = Path(f"/proc/{child.pid}/status").read_text()
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])
        # After `)`: state is the first field, user and system time the 12th and 13th.
        times = Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
        return {"cpu": sum(map(int, times)) / os.sysconf("SC_CLK_TCK"), "peak_mb": peak * 1024 / 1e6}
    finally:
        child.send_signal(signal.SIGTERM)
        child.wait()


def table(names: list, rounds: list) -> str:
    """Medians of each program, and of the ratios to the first one within a round."""
    lines = ["| | " + " | ".join(f"{name} | ratio (rounds) | MB" for name in names) + " |",
             "| --- |" + " ---: | ---: | ---: |" * len(names)]
    for work in rounds[0][names[0]]:
        cells = []
        for name in names:
            ratios = [of[name][work]["cpu"] / of[names[0]][work]["cpu"] for of in rounds]
            seconds = statistics.median(of[name][work]["cpu"] for of in rounds)
            peak = statistics.median(of[name][work]["peak_mb"] for of in rounds)
            each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
            cells.append(f"{seconds:.2f} s | **{statistics.median(ratios):.2f}** ({each}) | {peak:.0f}")
        lines.append(f"| {work} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
