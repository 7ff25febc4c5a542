"""GMatching: the mean over neighbours (Xiong et al., EMNLP 2018)."""

import torch
from torch import nn

from matching import Matching


class Gmatching(Matching):
    EXPECTED = {**Matching.EXPECTED, "few_shots": "mean"}

    def __init__(self, dump: dict, form: str) -> None:
        super().__init__(dump, form)
        self.neighbour = nn.Linear(2 * self.dim, self.dim)
        self.finish(form)

    def blocks(self, of) -> dict:
        own = {"neighbour.weight": of(self.neighbour.weight), "neighbour.bias": of(self.neighbour.bias)}
        return {**own, **self.pair_encoder.blocks(of), **self.processor.blocks(of)}

    def encoded(self, entities: torch.Tensor) -> torch.Tensor:
        relations, others, mask = self.neighbours(entities)
        messages = torch.cat((relations, others), -1) @ self.neighbour.weight.t()
        total = (messages * mask.unsqueeze(-1)).sum(1)
        degree = mask.sum(-1, keepdim=True).clamp(min=1)
        return torch.tanh(total / degree + self.neighbour.bias)

    def references(self, supports: torch.Tensor) -> tuple:
        return supports.mean(1), torch.zeros(())
