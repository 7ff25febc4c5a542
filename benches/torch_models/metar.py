"""MetaR: a small network over the pairs of a support (Chen et al., EMNLP 2019)."""

import torch
from torch import nn
from torch.nn import functional

from relation_meta import RelationMeta


class Metar(RelationMeta):
    COMPILED = ("learner", "distances")
    EXPECTED = {**RelationMeta.EXPECTED, "normalisation": "batch_per_shot"}

    def __init__(self, dump: dict, form: str) -> None:
        super().__init__(dump, form)
        self.keep_pairs()
        self.entities = self.learned(dump["entities"])
        shots = self.config["shots"]
        shapes = [self.shape(f"w{number}") for number in (1, 2, 3)]
        self.linears = nn.ModuleList(nn.Linear(inputs, outputs) for outputs, inputs in shapes)
        self.norms = nn.ModuleList(nn.BatchNorm1d(shots) for _ in shapes)
        self.finish(form)

    def blocks(self, of) -> dict:
        found = {}
        for number, (linear, norm) in enumerate(zip(self.linears, self.norms), 1):
            found |= {f"w{number}": of(linear.weight), f"b{number}": of(linear.bias)}
            found |= {f"norm{number}.scale": of(norm.weight), f"norm{number}.shift": of(norm.bias)}
        return found

    def tables(self) -> list:
        return [self.entities]

    def learner(self, x: torch.Tensor) -> torch.Tensor:
        for number, (linear, norm) in enumerate(zip(self.linears, self.norms)):
            x = norm(linear(x))
            x = functional.leaky_relu(x) if number < 2 else x
        return x.mean(1)

    def relation(self, support: torch.Tensor) -> list:
        return [self.learner(support.flatten(2))]

    def distances(self, relation: list, pairs: torch.Tensor) -> torch.Tensor:
        return (pairs[:, :, 0] + relation[0].unsqueeze(1) - pairs[:, :, 1]).norm(dim=-1)
