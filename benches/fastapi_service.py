"""A completion service as one writes it in Python: FastAPI, PyTorch, the same vectors and candidates.

    VECTORS=entity2vec.npy NELL=NELL-One uvicorn fastapi_service:app --workers 2

It scores as RANA does once a relation is learned: the distance of head plus relation from every candidate. The relation
is the mean of tail minus head over the support, which costs it less than RANA's encoder would.
"""

import json
import os
from pathlib import Path

import numpy
import torch
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

NELL = Path(os.environ["NELL"])
torch.set_num_threads(1)
torch.set_grad_enabled(False)
ids = json.loads((NELL / "ent2ids").read_text())
names = {number: name for name, number in ids.items()}
vectors = torch.from_numpy(numpy.load(os.environ["VECTORS"]).astype("float32"))
candidates = {
    relation: torch.tensor(sorted({ids[name] for name in listed if name in ids}))
    for relation, listed in json.loads((NELL / "rel2candidates.json").read_text()).items()
}
rows = {relation: vectors[listed] for relation, listed in candidates.items()}
app = FastAPI()


class Question(BaseModel):
    relation: str
    support: list[tuple[str, str]]
    heads: list[str]
    top: int = 10


@app.post("/v1/complete")
def complete(question: Question) -> dict:
    try:
        support = [(ids[head], ids[tail]) for head, tail in question.support]
        heads = [ids[head] for head in question.heads]
        listed, table = candidates[question.relation], rows[question.relation]
    except KeyError as missing:
        raise HTTPException(422, f"unknown: {missing}") from missing
    pairs = torch.tensor(support)
    relation = (vectors[pairs[:, 1]] - vectors[pairs[:, 0]]).mean(0)
    distances = torch.cdist(vectors[heads] + relation, table)
    known = {}
    for head, tail in support:
        known.setdefault(head, set()).add(tail)
    results = []
    for head, row in zip(heads, distances):
        best, places = torch.topk(-row, min(question.top + len(support), len(row)))
        answers = []
        for score, place in zip(best.tolist(), places.tolist()):
            tail = int(listed[place])
            if tail in known.get(head, ()) or tail == head:
                continue
            answers.append({"rank": len(answers) + 1, "tail": {"name": names[tail]}, "score": score})
            if len(answers) == question.top:
                break
        results.append({"head": {"name": names[head]}, "answers": answers})
    return {"results": results}
