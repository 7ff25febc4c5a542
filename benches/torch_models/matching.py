"""What GMatching and FSRL share: encoded pairs, and the LSTM that matches a query with the reference of its task."""

import torch
from torch import nn
from torch.nn import functional

from model import Model, without_second_bias


class PairEncoder(nn.Module):
    """Two layers and a norm whose spread is the deviation over all numbers but one."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.scale, self.shift = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, pairs: torch.Tensor) -> torch.Tensor:
        sums = self.outer(functional.relu(self.inner(pairs))) + pairs
        mean, deviation = sums.mean(-1, keepdim=True), sums.std(-1, keepdim=True)
        return (sums - mean) / (deviation + 1e-3) * self.scale + self.shift

    def blocks(self, of) -> dict:
        inner, half = of(self.inner.weight), self.inner.in_features // 2
        return {
            "pair.head": inner[:, :half], "pair.tail": inner[:, half:], "pair.inner_bias": of(self.inner.bias),
            "pair.outer": of(self.outer.weight), "pair.outer_bias": of(self.outer.bias),
            "pair.norm_scale": of(self.scale), "pair.norm_shift": of(self.shift),
        }


class PublicProcessor(nn.Module):
    """As the public code: the cell has twice as many hidden units, the second half of which is never read."""

    def __init__(self, width: int, steps: int) -> None:
        super().__init__()
        self.width, self.steps = width, steps
        self.cell = without_second_bias(nn.LSTMCell(width, 2 * width))

    def forward(self, queries: torch.Tensor, references: torch.Tensor) -> torch.Tensor:
        state = cell = queries.new_zeros(len(queries), 2 * self.width)
        for _ in range(self.steps):
            hidden, cell = self.cell(queries, (state, cell))
            processed = queries + hidden[:, : self.width]
            state = torch.cat((processed, references), -1)
        return processed

    def blocks(self, of) -> dict:
        # By gate; the first half of each has the units that are read.
        width = self.width
        own = lambda part: of(part).view(4, 2 * width, -1)[:, :width]
        state = own(self.cell.weight_hh)
        return {
            "match.query": own(self.cell.weight_ih), "match.state": state[..., :width],
            "match.reference": state[..., width:], "match.bias": own(self.cell.bias_ih),
        }


class TrimmedProcessor(nn.Module):
    """Without the units that are never read."""

    def __init__(self, width: int, steps: int) -> None:
        super().__init__()
        self.width, self.steps = width, steps
        self.of_query, self.of_state = nn.Linear(width, 4 * width), nn.Linear(2 * width, 4 * width, bias=False)

    def forward(self, queries: torch.Tensor, references: torch.Tensor) -> torch.Tensor:
        by_query = gates = self.of_query(queries)
        cell = torch.zeros_like(queries)
        for _ in range(self.steps):
            inward, forget, proposal, outward = gates.chunk(4, -1)
            cell = torch.sigmoid(forget) * cell + torch.sigmoid(inward) * torch.tanh(proposal)
            processed = queries + torch.sigmoid(outward) * torch.tanh(cell)
            gates = by_query + self.of_state(torch.cat((processed, references), -1))
        return processed

    def blocks(self, of) -> dict:
        state, width = of(self.of_state.weight), self.width
        return {
            "match.query": of(self.of_query.weight), "match.state": state[:, :width],
            "match.reference": state[:, width:], "match.bias": of(self.of_query.bias),
        }


class Matching(Model):
    """A model that matches encoded pairs. Supports, queries and negatives are encoded in one batch, each pair anew."""

    COMPILED = ("pairs", "references", "scores")
    EXPECTED = {
        "padding": "masked", "standardise": True, "pair_encoder": True, "start_with_reference": False, "similarity": "dot",
        "fine_tune": False, "J": 1,
    }

    def __init__(self, dump: dict, form: str) -> None:
        super().__init__(dump, form)
        self.keep_neighbours()
        self.relation_rows, self.entity_rows = (
            nn.Embedding.from_pretrained(standardised(dump[name])) for name in ("relations", "entities")
        )
        heads, tails, negatives = (dump[f"query.{part}"] for part in ("heads", "tails", "negatives"))
        self.tasks, self.shots = dump["support.heads"].shape
        # All supports, then all queries, then all negatives.
        self.heads = torch.cat((dump["support.heads"].flatten(), heads.flatten(), heads.flatten()))
        self.tails = torch.cat((dump["support.tails"].flatten(), tails.flatten(), negatives.flatten()))
        self.task_of_query = dump["query.tasks"].flatten().repeat(2)
        self.pair_encoder = PairEncoder(2 * self.dim)
        processor = TrimmedProcessor if self.is_trimmed else PublicProcessor
        self.processor = processor(2 * self.dim, self.config["process_steps"])

    def encoded(self, entities: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def pairs(self, heads: torch.Tensor, tails: torch.Tensor) -> torch.Tensor:
        return self.pair_encoder(torch.cat((self.encoded(heads), self.encoded(tails)), -1))

    def references(self, supports: torch.Tensor) -> tuple:
        """The reference of each task, from tasks × shots × numbers, and what is minimised too."""
        raise NotImplementedError

    def scores(self, queries: torch.Tensor, references: torch.Tensor) -> torch.Tensor:
        references = references[self.task_of_query]
        return (self.processor(queries, references) * references).sum(-1)

    def loss(self) -> torch.Tensor:
        pairs = self.pairs(self.heads, self.tails)
        supports = self.tasks * self.shots
        references, other = self.references(pairs[:supports].view(self.tasks, self.shots, -1))
        positive, negative = self.scores(pairs[supports:], references).chunk(2)
        return self.margin_loss(positive, negative) + other


def standardised(rows: torch.Tensor) -> torch.Tensor:
    mean, deviation = rows.mean(-1, keepdim=True), rows.std(-1, correction=0, keepdim=True)
    return (rows - mean) / (deviation + 1e-3)
