#!/usr/bin/env python3
"""`rana serve` under load, and a FastAPI and PyTorch service beside it on the same vectors.

    python3 benches/serve.py [--data ../shared/datasets/NELL-One] [--seconds 60] [--rounds 1]

The run is RANA on NELL-One (preset nell-one-tuned), trained when it is first needed. Every request completes one head of
a test task from its five official supports, ten answers; heads and tasks take turns. wrk (Debian's package) asks over loopback
with 16 connections from another process. The services take turns within a round; of one and two workers, FastAPI's better
result counts. Both answer from the same candidates; rana also says how sure it is.
"""

import argparse
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from harness import DATA, RANA, ROOT, machine, positive, run, say, virtualenv

BENCHES = Path(__file__).resolve().parent
CONNECTIONS = 16
HEADS_PER_TASK = 100
# A prime: every body has its turn, and tasks take turns.
STRIDE = 101


def main() -> None:
    args = arguments()
    python = virtualenv("torch", "numpy", "fastapi", "uvicorn")
    graph, run_path = trained(args.data)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        script = wrk_script(scratch, args.data)
        run(RANA, "export", graph, "--format", "npy", "--out", scratch / "vectors", "--quiet")
        rounds = []
        for number in range(args.rounds):
            found = {"rana": load(rana(graph, run_path, scratch), script, args.seconds)}
            for workers in (1, 2):
                found[f"FastAPI, {workers} workers"] = load(
                    fastapi(python, args, scratch, workers), script, args.seconds
                )
            for name, result in found.items():
                say(f"round {number + 1}: {name}: {json.dumps(result)}")
            rounds.append(found)
    record = {"machine": machine(), "rounds": rounds}
    args.out.write_text(json.dumps(record, indent=2) + "\n")
    print(table(rounds))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = ROOT.parent / "shared" / "datasets" / "NELL-One"
    parser.add_argument("--data", type=Path, default=default, help="the release directory of NELL-One")
    parser.add_argument("--seconds", type=positive, default=60, help="seconds of load for each (default 60)")
    parser.add_argument("--rounds", type=positive, default=1, help="rounds of all contestants (default 1)")
    parser.add_argument("--out", type=Path, default=DATA / "serve.json", help="where the record goes")
    return parser.parse_args()


def wrk_script(scratch: Path, data: Path) -> Path:
    """What wrk sends: one body after the other."""
    bodies = []
    for relation, facts in json.loads((data / "test_tasks.json").read_text()).items():
        support = [[head, tail] for head, _, tail in facts[:5]]
        heads = list(dict.fromkeys(head for head, _, _ in facts[5:]))[:HEADS_PER_TASK]
        bodies += [json.dumps({"relation": relation, "support": support, "heads": [head], "top": 10}) for head in heads]
    (scratch / "bodies").write_text("\n".join(bodies))
    script = scratch / "complete.lua"
    script.write_text(
        f"""
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local bodies = {{}}
for line in io.lines("{scratch / 'bodies'}") do bodies[#bodies + 1] = line end
local at = 0
function request()
  at = (at + {STRIDE}) % #bodies
  return wrk.format(nil, nil, nil, bodies[at + 1])
end
"""
    )
    return script


def trained(data: Path) -> tuple[Path, Path]:
    """The graph and the run that is served."""
    place = DATA / "serve"
    graph, run_path = place / "kg", place / "run"
    if not (run_path / "run.json").exists():
        place.mkdir(parents=True, exist_ok=True)
        run(RANA, "import", data, "--out", graph)
        run(RANA, "embed", graph, "--preset", "nell-one-tuned")
        run(RANA, "train", graph, "--preset", "nell-one-tuned", "--seed", "1", "--out", run_path)
    return graph, run_path


def rana(graph: Path, run_path: Path, scratch: Path):
    port = free_port()
    command = [RANA, "serve", run_path, "--graph", graph, "--listen", f"127.0.0.1:{port}"]
    return port, command + ["--decisions", scratch / f"decisions-{port}", "--quiet"], {}


def fastapi(python: Path, args: argparse.Namespace, scratch: Path, workers: int):
    port = free_port()
    command = [python, "-m", "uvicorn", "fastapi_service:app", "--port", port, "--workers", workers, "--log-level", "warning"]
    where = {"NELL": str(args.data), "VECTORS": str(scratch / "vectors" / "entity2vec.npy")}
    return port, command, where


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def load(service, script: Path, seconds: int) -> dict:
    """Starts a service, waits until it answers, and asks as fast as it answers."""
    port, command, where = service
    environment = {**os.environ, **where}
    child = subprocess.Popen([str(part) for part in command], cwd=BENCHES, env=environment, stdout=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}/v1/complete"
        body = (script.parent / "bodies").read_text().splitlines()[0].encode()
        for _ in range(600):
            try:
                request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
                answer = json.load(urllib.request.urlopen(request, timeout=10))
                assert len(answer["results"][0]["answers"]) == 10, answer
                break
            except OSError:
                time.sleep(0.2)
        wrk = ["wrk", "-t1", f"-c{CONNECTIONS}", "--latency", "-s", script, address]
        subprocess.run([*wrk[:1], "-d3s", *wrk[1:]], check=True, capture_output=True)
        out = subprocess.run([*wrk[:1], f"-d{seconds}s", *wrk[1:]], check=True, capture_output=True, text=True).stdout
    finally:
        child.send_signal(signal.SIGTERM)
        child.wait()
    return parse(out)


def parse(out: str) -> dict:
    """What wrk found."""
    latency = dict(re.findall(r"(50|90|99)%\s+([\d.]+\w+)", out))
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
    return {
        "per_second": float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]),
        "p50_ms": milliseconds(latency["50"]),
        "p99_ms": milliseconds(latency["99"]),
        "errors": (int(bad[1]) if bad else 0) + (sum(map(int, broken.groups())) if broken else 0),
    }


def milliseconds(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[unit]


def table(rounds: list) -> str:
    names = list(rounds[0])
    median = {name: {key: statistics.median(of[name][key] for of in rounds) for key in rounds[0][name]} for name in names}
    best = max(median[name]["per_second"] for name in names if name != "rana")
    lines = ["| | requests per second | times the better FastAPI | p50 ms | p99 ms | errors |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for name, of in median.items():
        lines.append(
            f"| {name} | {of['per_second']:,.0f} | {of['per_second'] / best:.1f} | {of['p50_ms']:.2f} | {of['p99_ms']:.2f} | {of['errors']:.0f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
