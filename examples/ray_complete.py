"""Completes the heads of a Parquet file with Ray Data: python examples/ray_complete.py RUN RELATION HEADS.parquet OUT WORKERS"""

import sys

import ray

from rana import Completer

run, relation, heads, out, workers = sys.argv[1:]
ray.data.read_parquet(heads).repartition(8 * int(workers)).map_batches(
    Completer,
    fn_constructor_args=(run, relation),
    batch_format="pyarrow",
    batch_size=4096,
    # Half a processor each by the books, so that reading and writing have a place too.
    num_cpus=0.5,
    compute=ray.data.ActorPoolStrategy(size=int(workers)),
).write_parquet(out)
