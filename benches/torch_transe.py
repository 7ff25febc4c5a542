"""TransE in plain PyTorch with sparse embeddings, as one would write it; run by `pretrain.py`.

    python torch_transe.py PATH_GRAPH KIND BATCH WAY EPOCHS

KIND is `one` (one negative per fact, margin loss, SGD) or `many` (64 negatives shared by 64 facts,
self-adversarial loss, Adagrad); WAY is how `many` compares them, `broadcast` or `cdist`. Prints the
facts per second of each epoch as JSON.
"""

import json
import sys
import time
import warnings

import torch
from torch.nn import functional

DIM, NEGATIVES, SHARED_BY = 100, 64, 64


def main() -> None:
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    torch.set_num_threads(2)
    path, kind, batch, way, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
    facts, entity_count, relation_count = read(path)
    tables = [torch.nn.Embedding(count, DIM, sparse=True) for count in (entity_count, relation_count)]
    for table in tables:
        torch.nn.init.uniform_(table.weight, -0.08, 0.08)
    weights = [table.weight for table in tables]
    optimiser = torch.optim.SGD(weights, lr=0.01) if kind == "one" else torch.optim.Adagrad(weights, lr=0.1)
    rates = []
    for _ in range(epochs):
        start = time.perf_counter()
        order = torch.randperm(len(facts))
        for number, at in enumerate(order.split(batch)):
            optimiser.zero_grad()
            loss(kind, way, tables, facts[at], is_tail=number % 2 == 0).backward()
            optimiser.step()
        rates.append(len(facts) / (time.perf_counter() - start))
    print(json.dumps(rates))


def read(path: str) -> tuple:
    ids = ({}, {})
    with open(path) as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    number = lambda of, name: of.setdefault(name, len(of))
    facts = torch.tensor([(number(ids[0], h), number(ids[1], r), number(ids[0], t)) for h, r, t in rows])
    return facts, len(ids[0]), len(ids[1])


def loss(kind: str, way: str, tables: list, facts: torch.Tensor, is_tail: bool) -> torch.Tensor:
    entities, relations = tables
    anchor, answer = (facts[:, 0], facts[:, 2]) if is_tail else (facts[:, 2], facts[:, 0])
    sign = 1 if is_tail else -1
    query = entities(anchor) + sign * relations(facts[:, 1])
    positive = (query - entities(answer)).abs().sum(1)
    if kind == "one":
        negatives = entities(torch.randint(entities.num_embeddings, (len(facts),)))
        return functional.relu(1 + positive - (query - negatives).abs().sum(1)).sum()
    # The last chunk may be shorter; it is filled up with copies that are cut off again.
    chunks = -(-len(facts) // SHARED_BY)
    padded = functional.pad(query, (0, 0, 0, chunks * SHARED_BY - len(facts))).view(chunks, SHARED_BY, DIM)
    negatives = entities(torch.randint(entities.num_embeddings, (chunks, NEGATIVES)))
    if way == "cdist":
        distances = torch.cdist(padded, negatives, p=1)
    else:
        distances = (padded.unsqueeze(2) - negatives.unsqueeze(1)).abs().sum(3)
    distances = distances.view(-1, NEGATIVES)[: len(facts)]
    weights = functional.softmax(-distances.detach(), 1)
    of_negatives = (weights * functional.softplus(6 - distances)).sum(1)
    return 0.5 * (functional.softplus(positive - 6) + of_negatives).sum()


if __name__ == "__main__":
    main()
