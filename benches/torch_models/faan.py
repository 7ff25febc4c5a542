"""FAAN: neighbours that fit their pair, and a transformer over pairs (Sheng et al., EMNLP 2020)."""

import math

import torch
from torch import nn
from torch.nn import functional

from model import Model, masked_softmax


class Layer(nn.Module):
    """A layer of the transformer, with norms after its sums."""

    NAMES = ("query", "key", "value", "output", "expand", "contract")

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.expand, self.contract = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.attention_norm, self.norm = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries, keys, values = (self.by_head(part(x)) for part in (self.query, self.key, self.value))
        weights = functional.softmax(queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1]), -1)
        context = (weights @ values).transpose(1, 2).flatten(2)
        x = self.attention_norm(x + self.output(context))
        return self.norm(x + self.contract(functional.gelu(self.expand(x), approximate="tanh")))

    def by_head(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def blocks(self, of, name: str) -> dict:
        found = {}
        for part in self.NAMES:
            layer = getattr(self, part)
            found |= {f"{name}.{part}.weight": of(layer.weight), f"{name}.{part}.bias": of(layer.bias)}
        for part in ("attention_norm", "norm"):
            norm = getattr(self, part)
            found |= {f"{name}.{part}.scale": of(norm.weight), f"{name}.{part}.shift": of(norm.bias)}
        return found


class Faan(Model):
    """Supports, queries and negatives are encoded in one batch, each pair anew."""

    COMPILED = ("pairs",)
    EXPECTED = {
        "entity_output": "residual_norm", "width": "vector", "head_layout": "by_head", "attention_scale": "head_width",
        "positions": "waves", "reference_scale": "width", "fine_tune": False, "J": 1,
    }

    def __init__(self, dump: dict, form: str) -> None:
        super().__init__(dump, form)
        self.keep_neighbours()
        dim = self.dim
        self.relation_rows, self.entity_rows = self.frozen("relations"), self.frozen("entities")
        heads, tails, negatives = (dump[f"query.{part}"] for part in ("heads", "tails", "negatives"))
        self.tasks, self.shots = dump["support.heads"].shape
        # All supports, then all queries, then all negatives.
        self.heads = torch.cat((dump["support.heads"].flatten(), heads.flatten(), heads.flatten()))
        self.tails = torch.cat((dump["support.tails"].flatten(), tails.flatten(), negatives.flatten()))
        self.task_of_query = dump["query.tasks"].flatten().repeat(2)
        self.attention, self.own, self.context = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.norm = nn.LayerNorm(dim)
        self.mask = nn.Parameter(torch.empty(dim))
        self.positions = waves(dim)
        self.layers = nn.ModuleList(Layer(dim, self.config["heads"]) for _ in range(self.config["layers"]))
        self.finish(form)

    def blocks(self, of) -> dict:
        found = {
            "neighbour.attention": of(self.attention.weight), "neighbour.own": of(self.own.weight),
            "neighbour.context": of(self.context.weight), "neighbour.norm.scale": of(self.norm.weight),
            "neighbour.norm.shift": of(self.norm.bias), "transformer.mask": of(self.mask),
        }
        for number, layer in enumerate(self.layers):
            found |= layer.blocks(of, f"transformer.{number}")
        return found

    def encoded(self, entities: torch.Tensor, weak: torch.Tensor) -> torch.Tensor:
        relations, others, mask = self.neighbours(entities)
        logits = (relations @ self.attention(weak).unsqueeze(-1)).squeeze(-1)
        context = (masked_softmax(logits, mask).unsqueeze(1) @ others).squeeze(1)
        own = self.entity_rows(entities)
        return self.norm(own + functional.relu(self.own(own) + self.context(context)))

    def pairs(self, heads: torch.Tensor, tails: torch.Tensor) -> torch.Tensor:
        weak = self.entity_rows(tails) - self.entity_rows(heads)
        ends = self.encoded(heads, weak), self.encoded(tails, weak)
        x = torch.stack((ends[0], self.mask.expand(len(heads), -1), ends[1]), 1) + self.positions
        for layer in self.layers:
            x = layer(x)
        return x[:, 1]

    def loss(self) -> torch.Tensor:
        pairs = self.pairs(self.heads, self.tails)
        supports = self.tasks * self.shots
        # Tasks do not have as many queries: each query has a copy of its references.
        references = pairs[:supports].view(self.tasks, self.shots, -1)[self.task_of_query]
        queries = pairs[supports:]
        fits = (references @ queries.unsqueeze(-1)).squeeze(-1) / math.sqrt(queries.shape[-1])
        matched = (functional.softmax(fits, -1).unsqueeze(1) @ references).squeeze(1)
        positive, negative = (queries * matched).sum(-1).chunk(2)
        return self.margin_loss(positive, negative)


def waves(dim: int) -> torch.Tensor:
    """Sines and cosines of each of three positions, of ever longer waves."""
    columns = torch.arange(dim)
    angles = torch.arange(3).double().unsqueeze(1) / 10000 ** (columns // 2 * 2 / dim).double()
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos()).float()
