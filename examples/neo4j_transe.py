"""Completes a relation in Neo4j with the vectors of rana.

rana export kg --format neo4j --out neo4j
neo4j-admin database import full --nodes neo4j/nodes.csv --relationships neo4j/relationships.csv
python examples/neo4j_transe.py neo4j/relation_vectors.csv treats     (pip install graphdatascience)
"""

import csv
import sys

from graphdatascience import GraphDataScience

rows = csv.DictReader(open(sys.argv[1], encoding="utf-8", newline=""))
vectors = {row["relation"]: [float(number) for number in row["embedding"].split(";")] for row in rows}
gds = GraphDataScience("bolt://localhost:7687", auth=None)
graph, _ = gds.graph.project("rana", {"Entity": {"properties": "embedding"}}, "*")
model = gds.model.transe.create(graph, "embedding", vectors)
print(model.predict_stream("Entity", "Entity", sys.argv[2], top_k=10, concurrency=4))
