"""Completes the heads of a Parquet file with Spark: spark-submit examples/spark_complete.py RUN RELATION HEADS.parquet OUT"""

import sys

from pyspark.sql import SparkSession

from rana import Completer

SCHEMA = (
    "head string, relation string, tail string, rank long, score float, confidence float, known boolean, "
    "head_label string, tail_label string"
)
run, relation, heads, out = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
completer = Completer(run, relation)
spark.read.parquet(heads).mapInArrow(completer.map, SCHEMA).write.mode("overwrite").parquet(out)
spark.stop()
