"""HiRe: transformers over pairs and over their contexts, scores by projections (Wu et al., ACL 2023)."""

import math

import torch
from torch import nn
from torch.nn import functional

from model import linear, masked_softmax
from relation_meta import RelationMeta


class SelfAttention(nn.Module):
    """Self-attention with one head."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor, mask=None) -> tuple:
        queries, keys, values = self.inputs(x).chunk(3, -1)
        logits = queries @ keys.transpose(-2, -1) / math.sqrt(x.shape[-1])
        weights = functional.softmax(logits, -1) if mask is None else masked_softmax(logits, mask.unsqueeze(1))
        return self.output(weights @ values), weights

    def blocks(self, of, name: str) -> dict:
        return {**linear(of, f"{name}.inputs", self.inputs), **linear(of, f"{name}.output", self.output)}


class Hire(RelationMeta):
    COMPILED = ("learner", "contexts", "distances")
    EXPECTED = {
        **RelationMeta.EXPECTED, "residual": "input", "entity_transfers": "first_support", "relation_transfers": "shared",
        "corrupted_contexts": 1,
    }

    def __init__(self, dump: dict, form: str) -> None:
        super().__init__(dump, form)
        self.keep_pairs()
        self.keep_neighbours()
        self.corrupt_contexts()
        dim, width = self.dim, 2 * self.dim
        rows = dump["entities"]
        self.entities, self.entity_transfers = self.learned(rows[:, :dim]), self.learned(rows[:, dim:])
        self.relation_rows = self.frozen("relations")
        self.entity_rows = nn.Embedding.from_pretrained(dump["entities.start"][:, :dim].contiguous())
        self.learner_norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.learner_attention = SelfAttention(width)
        self.hidden = nn.Linear(width, self.config["hidden_ratio"] * width)
        self.output = nn.Linear(self.config["hidden_ratio"] * width, dim)
        self.context_norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.context_attention, self.context_output = SelfAttention(width), nn.Linear(width, dim)
        self.transfers = nn.Parameter(torch.empty(self.shape("transfers")))
        self.finish(form)

    def corrupt_contexts(self) -> None:
        """The neighbours of both ends of each support pair, and the random relations that rana drew for them."""
        ends = self.pairs[0].flatten(0, 1)
        places, most = self.places[ends], self.places.shape[1]
        taken = torch.arange(most) < self.counts[ends].unsqueeze(-1)
        self.context_mask = taken.flatten(1)
        self.context_places = places.flatten(1, 2)
        corrupted = self.context_places.clone()
        # Pair after pair, the neighbours of the head and then those of the tail: as they stand here.
        corrupted[..., 0][self.context_mask] = self.dump["drawn.corrupted_relations"]
        self.corrupted_places = corrupted

    def blocks(self, of) -> dict:
        found = {
            **self.context_attention.blocks(of, "context.attention"), **linear(of, "context.output", self.context_output),
            **self.learner_attention.blocks(of, "learner.attention"), **linear(of, "learner.hidden", self.hidden),
            **linear(of, "learner.output", self.output), "transfers": of(self.transfers),
        }
        for name, norms in (("context", self.context_norms), ("learner", self.learner_norms)):
            for number, norm in enumerate(norms, 1):
                found |= {f"{name}.norm{number}.scale": of(norm.weight), f"{name}.norm{number}.shift": of(norm.bias)}
        return found

    def tables(self) -> list:
        return [self.entities, self.entity_transfers]

    def learner(self, pairs: torch.Tensor) -> torch.Tensor:
        sums = pairs + self.learner_attention(self.learner_norms[0](pairs))[0]
        hidden = functional.gelu(self.hidden(self.learner_norms[1](sums)), approximate="tanh")
        return self.output(hidden)

    def relation(self, support: torch.Tensor) -> list:
        self.found = self.learner(support.flatten(2))
        first = self.entity_transfers(self.pairs[0][:, 0])
        transfer = self.transfers.expand(len(support), -1)
        return [self.found.mean(1), transfer, first[:, 0], first[:, 1]]

    def distances(self, relation: list, pairs: torch.Tensor) -> torch.Tensor:
        translation, *transfers = (part.unsqueeze(1) for part in relation)
        head, tail = (
            end + (end * own).sum(-1, keepdim=True) * transfers[0]
            for end, own in zip((pairs[:, :, 0], pairs[:, :, 1]), transfers[1:])
        )
        return (head + translation - tail).norm(dim=-1)

    def contexts(self, places: torch.Tensor) -> torch.Tensor:
        """A vector for the context of each pair."""
        rows = torch.cat((self.relation_rows(places[..., 0]), self.entity_rows(places[..., 1])), -1)
        mask = self.context_mask
        attended, weights = self.context_attention(self.context_norms[0](rows), mask)
        mean = (weights * mask.unsqueeze(-1)).sum(1) / mask.sum(-1, keepdim=True).clamp(min=1)
        return self.context_output(self.context_norms[1]((mean.unsqueeze(1) @ attended).squeeze(1)))

    def other_loss(self) -> torch.Tensor:
        found = self.found.flatten(0, 1)
        contexts = [self.contexts(places) for places in (self.context_places, self.corrupted_places)]
        similar = torch.stack([functional.cosine_similarity(found, each, dim=-1, eps=1e-12) for each in contexts], -1)
        loss = -functional.log_softmax(similar / self.config["temperature"], -1)[:, 0].mean()
        return self.config["context_weight"] * loss
