#!/usr/bin/env python3
"""Mixed load on `rana serve` for a while, with `kill -9` and restart every few minutes.

    python3 scripts/soak.py RUN [--minutes 30] [--rana target/release/rana] [--kill-every 180] [--last-leg 720]

RUN is a directory of `rana learn` or a run. Clients complete, search, decide, export, reload, send garbage, read slowly and
go away in the middle. The server is killed every three minutes but for the last leg, which shows slow growth. The run is
loaded again five times in each leg, and every three minutes in the last one. At the end it prints one JSON object: requests
by kind and status, the median and the 99th percentile of each, decisions acknowledged and lost, and the memory of the server.

Memory is what is resident without mapped files (RssAnon), read every second. Compared are the medians of two windows of each
leg: its third half minute and its last half minute. Before the first, the cache of learned relations fills, and the run is
loaded again four times, because the allocator keeps room for the run before. A server keeps every decision, so memory must
grow with them. How much one takes is measured at the starts, before any request: the slope of memory over the number of
decisions in the file. `growth` is all of it, `beyond_decisions` what is left without that.

It fails (exit 1) if an acknowledged decision is lost, an answer is a 500, or memory grows by more than 5 % beyond decisions.
Only the standard library is needed.
"""

import argparse
import collections
import http.client
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time


class Server:
    """The server and what is known about it."""

    def __init__(self, options, decisions):
        self.options, self.decisions = options, decisions
        self.process, self.address, self.lock = None, None, threading.Lock()
        # By start: its time, its memory before any request with the number of decisions, and all readings.
        self.begun, self.at_start, self.readings = 0.0, [], []

    def start(self):
        command = [self.options.rana, "serve", self.options.run, "--listen", "127.0.0.1:0", "--json",
                   "--decisions", self.decisions, "--log", "off"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        text = ""
        for line in process.stdout:
            text += line
            if line.strip() == "}":
                break
        host, port = json.loads(text)["address"].rsplit(":", 1)
        self.process = process
        # The index of names is made in another thread.
        time.sleep(1.0)
        self.at_start.append((json.loads(text)["decisions"], self.resident()))
        self.begun, self.readings = time.monotonic(), []
        with self.lock:
            self.address = (host, int(port))

    def watch(self, over):
        """Reads the memory every second."""
        while not over.wait(1.0):
            try:
                self.readings.append((time.monotonic() - self.begun, self.resident()))
            except (OSError, KeyError):
                pass  # It was killed.

    def median(self, start, end):
        """The median of the memory between two times of this leg, in kB."""
        return statistics.median([memory for at, memory in self.readings if start <= at <= end])

    def resident(self):
        """The resident memory in kB without pages of mapped files."""
        with open(f"/proc/{self.process.pid}/status") as status:
            fields = dict(line.split(":", 1) for line in status)
        return int(fields["RssAnon"].split()[0])

    def kill(self):
        with self.lock:
            self.address = None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Clients:
    """Threads that ask, and what they met."""

    def __init__(self, server, relations, heads, seed):
        self.server, self.relations, self.heads, self.seed = server, relations, heads, seed
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.times = collections.defaultdict(list)
        self.statuses = collections.defaultdict(collections.Counter)
        self.acknowledged = []

    def request(self, kind, method, path, body=None, headers=None):
        address = self.server.address
        if address is None:
            time.sleep(0.05)
            return None
        started = time.monotonic()
        connection = http.client.HTTPConnection(*address, timeout=90)
        try:
            data = json.dumps(body) if isinstance(body, dict) else body
            headers = {"content-type": "application/json", **(headers or {})}
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            content = response.read()
            status = response.status
        except (OSError, http.client.HTTPException):
            # The server was killed, or refused the connection.
            with self.lock:
                self.statuses[kind]["cut off"] += 1
            return None
        finally:
            connection.close()
        with self.lock:
            self.statuses[kind][status] += 1
            self.times[kind].append(time.monotonic() - started)
        return status, content

    def complete(self, rng):
        relation = rng.choice(self.relations)
        heads = rng.sample(self.heads, min(len(self.heads), rng.choice([1, 5, 20])))
        self.request("complete", "POST", "/v1/complete", {"relation": relation, "heads": heads, "top": 5})

    def explain(self, rng):
        relation = rng.choice(self.relations)
        head, tail = rng.sample(self.heads, 2)
        self.request("explain", "POST", "/v1/explain", {"relation": relation, "head": head, "tail": tail})

    def search(self, rng):
        word = rng.choice(self.heads)[: rng.randint(1, 6)]
        path = "/v1/entities?q=" + "".join(c if c.isalnum() else "%20" for c in word)
        self.request("search", "GET", path)

    def decide(self, rng):
        head, tail = rng.sample(self.heads, 2)
        verdict = rng.choice(["accepted", "rejected"])
        fact = {"relation": rng.choice(self.relations), "head": head, "tail": tail, "verdict": verdict}
        answer = self.request("decide", "POST", "/v1/decisions", fact)
        if answer and answer[0] in (200, 201):
            number = json.loads(answer[1])["number"]
            with self.lock:
                self.acknowledged.append((number, head, tail, verdict))

    def export(self, rng):
        form = rng.choice(["tsv", "jsonl", "ntriples", "turtle"])
        self.request("export", "GET", f"/v1/export?format={form}")

    def malformed(self, rng):
        body = rng.choice([b"{", b"\xff\xfe", b"[]", b'{"relation": 5}', b'{"heads": ' + b"[" * 5000, os.urandom(200)])
        self.request("malformed", "POST", rng.choice(["/v1/complete", "/v1/decisions", "/v1/explain"]), body)

    def raw(self, data, pause):
        """Sends bytes one by one, then goes away without reading the answer."""
        address = self.server.address
        if address is None:
            return
        try:
            with socket.create_connection(address, timeout=5) as connection:
                for byte in data:
                    connection.send(bytes([byte]))
                    time.sleep(pause)
        except OSError:
            pass
        with self.lock:
            self.statuses["slow or gone"]["sent"] += 1

    def slow(self, rng):
        self.raw(b"POST /v1/complete HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n"[: rng.randint(5, 70)], 0.05)

    def gone(self, rng):
        body = json.dumps({"relation": rng.choice(self.relations), "heads": self.heads[:20]}).encode()
        head = f"POST /v1/complete HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self.raw(head.encode() + body, 0)

    def run(self, number):
        rng = random.Random(self.seed * 1000 + number)
        kinds = [self.complete] * 4 + [self.search] * 4 + [self.decide] * 4 + [self.explain] * 2
        kinds += [self.export, self.malformed, self.slow, self.gone]
        while not self.over.is_set():
            rng.choice(kinds)(rng)
            time.sleep(rng.random() * 0.1)


def journal(path):
    """The decisions in the file by number."""
    found = {}
    with open(path) as lines:
        for line in lines:
            entry = json.loads(line)
            if "number" in entry:
                found[entry["number"]] = entry
    return found


def share(values, at):
    values = sorted(values)
    return round(1000 * values[min(len(values) - 1, int(at * len(values)))], 1) if values else None


def bytes_of_a_decision(starts):
    """The slope of the memory of starts over their numbers of decisions."""
    counts, memories = zip(*starts)
    count, memory = statistics.mean(counts), statistics.mean(memories)
    spread = sum((of - count) ** 2 for of in counts)
    return 1024 * sum((of - count) * (kb - memory) for of, kb in starts) / spread if spread else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--rana", default="target/release/rana")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--kill-every", type=float, default=180)
    parser.add_argument("--last-leg", type=float, default=720)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="rana-soak-")
    decisions = os.path.join(folder, "decisions.jsonl")
    server = Server(options, decisions)
    server.start()
    probe = Clients(server, [], [], 0)
    relations = json.loads(probe.request("relations", "GET", "/v1/relations")[1])
    relations = [relation["name"] for relation in relations["relations"]][:50]
    found = []
    for letter in "abcdefghijklmnopqrstuvwxyz":
        answer = probe.request("search", "GET", f"/v1/entities?q={letter}")
        found += [entity["name"] for entity in json.loads(answer[1])["entities"]]
    clients = Clients(server, relations, sorted(set(found))[:500], options.seed)
    threads = [threading.Thread(target=clients.run, args=(number,)) for number in range(options.clients)]
    for thread in threads:
        thread.start()
    threading.Thread(target=server.watch, args=(clients.over,), daemon=True).start()
    growth = []
    legs = []
    left = 60 * options.minutes
    while left > options.last_leg + 1:
        legs.append(min(options.kill_every, left - options.last_leg))
        left -= legs[-1]
    legs.append(left)
    for number, leg in enumerate(legs):
        warm, window = min(90.0, leg / 2), min(30.0, leg / 6)
        before = len(clients.acknowledged)
        reloads = [warm * share for share in (0.1, 0.2, 0.3, 0.4)]
        following = warm + window
        while following <= leg - 2 * window:
            reloads.append(following)
            following += options.kill_every
        for at in reloads:
            time.sleep(max(0.0, at - (time.monotonic() - server.begun)))
            server.process.send_signal(signal.SIGHUP)
        time.sleep(max(0.0, leg - (time.monotonic() - server.begun)))
        early, late = server.median(warm - window, warm), server.median(leg - window, leg)
        growth.append({"seconds": leg, "reloads": len(reloads), "early_kB": early, "late_kB": late,
                       "decisions": len(clients.acknowledged) - before,
                       "readings_kB": [memory for _, memory in server.readings[:: max(1, len(server.readings) // 12)]]})
        if number + 1 < len(legs):
            server.kill()
            server.start()
    clients.over.set()
    for thread in threads:
        thread.join()
    server.kill()
    server.start()
    server.kill()
    kept = journal(decisions)
    lost = [one for one in clients.acknowledged
            if (kept.get(one[0], {}).get("verdict"), one[0] in kept) != (one[3], True)]
    failures = sum(counts[500] for counts in clients.statuses.values())
    slope = bytes_of_a_decision(server.at_start)
    for of in growth:
        # Those from the middle of one window to the middle of the other.
        span = 1 - min(90.0, of["seconds"] / 2) / of["seconds"]
        own = of["decisions"] * span * slope / 1024
        of["growth"] = round(of["late_kB"] / of["early_kB"] - 1, 4)
        of["beyond_decisions"] = round((of["late_kB"] - own) / of["early_kB"] - 1, 4)
    most = max((of["beyond_decisions"] for of in growth), default=0.0)
    result = {
        "minutes": options.minutes,
        "starts": len(legs),
        "requests": sum(sum(counts.values()) for counts in clients.statuses.values()),
        "statuses": {kind: {str(key): count for key, count in counts.items()} for kind, counts in sorted(clients.statuses.items())},
        "milliseconds": {kind: {"p50": share(times, 0.5), "p99": share(times, 0.99), "most": share(times, 1.0)}
                         for kind, times in sorted(clients.times.items())},
        "decisions_acknowledged": len(clients.acknowledged),
        "decisions_lost": len(lost),
        "answers_500": failures,
        "bytes_of_a_decision": round(slope),
        "at_start": [{"decisions": count, "kB": memory} for count, memory in server.at_start],
        "memory": growth,
        "most_growth_beyond_decisions": most,
    }
    print(json.dumps(result, indent=1))
    sys.exit(1 if lost or failures or most > 0.05 else 0)


if __name__ == "__main__":
    main()
