"""What comparisons with PyTorch share: the tensors of a dump, the distance of two results, and times."""

import json
import statistics
import time

import numpy
import torch

KINDS = {"F32": numpy.float32, "U32": numpy.uint32}


def read(path: str) -> dict:
    """The tensors of a safetensors file; its notes stand under `notes`."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    tensors = {"notes": header.pop("__metadata__", {})}
    for name, info in header.items():
        start, end = info["data_offsets"]
        values = numpy.frombuffer(data[start:end], KINDS[info["dtype"]]).reshape(info["shape"])
        # PyTorch looks rows up by signed ids.
        tensors[name] = torch.from_numpy(values.astype(numpy.int64 if info["dtype"] == "U32" else values.dtype))
    return tensors


def distance(own: torch.Tensor, other: torch.Tensor) -> float:
    return ((own - other).norm() / other.norm()).item()


def milliseconds(work, repeats: int) -> dict:
    """Of each of some repetitions: the median and the least, and the median of processor time."""
    for _ in range(5):
        work()
    times, cpu = [], []
    for _ in range(repeats):
        start, cpu_start = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - start) * 1e3)
        cpu.append((time.process_time() - cpu_start) * 1e3)
    return {"median": statistics.median(times), "min": min(times), "cpu": statistics.median(cpu)}
