"""What the benchmarks share: where things are, fresh processes measured, the machine described."""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "target" / "bench-venv"
DATA = ROOT / "target" / "bench-data"
# The program that is measured; another one by the variable RANA.
RANA = Path(os.environ.get("RANA", ROOT / "target" / "release" / "rana"))


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def virtualenv(*packages: str) -> Path:
    """The interpreter of an environment that has these packages."""
    python = VENV / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", VENV)
    for package in packages:
        if subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode != 0:
            run(python, "-m", "pip", "install", "--quiet", package)
    return python


def built_bench(package: str, bench: str) -> Path:
    """The program of a bench in Rust."""
    build = ["cargo", "bench", "-p", package, "--bench", bench, "--no-run", "--message-format", "json"]
    out = subprocess.run(build, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
    built = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return Path(next(each["executable"] for each in built if each.get("executable")))


def generated() -> Path:
    """A synthetic release of Wiki-One's size."""
    release = DATA / "wiki-one"
    if not (release / "path_graph").exists():
        DATA.mkdir(parents=True, exist_ok=True)
        run(RANA, "synth", "--like", "wiki-one", "--out", release)
    return release


def warm(path: Path) -> None:
    """Reads a file once, so that every contestant finds it in the page cache."""
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def measure(*command) -> dict:
    """Wall time, processor time and peak memory of a fresh process, and what it printed."""
    # Files rather than pipes: a pipe nobody empties could block the child.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen([str(part) for part in command], stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        stdout, stderr = whole(out), whole(err)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {child.returncode}\n{stderr}")
    # ru_maxrss is in kilobytes, except on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    processor = usage.ru_utime + usage.ru_stime
    return {"seconds": seconds, "cpu_seconds": processor, "peak_mb": usage.ru_maxrss * unit / 1e6, "stdout": stdout}


def whole(file) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def machine() -> dict:
    """What a record says about where it was made."""
    return {"system": platform.platform(), "cpu": cpu(), "cores": os.cpu_count()}


def cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def run(*command) -> None:
    say("$ " + " ".join(map(str, command)))
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT, stdout=sys.stderr)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
