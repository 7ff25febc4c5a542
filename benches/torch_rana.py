"""One meta-training step of RANA in plain PyTorch, on the inputs of `rana`'s; run by `meta_step.py`.

    python torch_rana.py DUMP FORM ENTITIES REPEATS

FORM is `literal` (the equations as written, as public code of this family does), `factored` (W3 pulled
out of the neighbours' sum, W1 split in two, its relation half applied once to the table of relations) or
`compiled` (factored, through `torch.compile`). ENTITIES is `frozen`, or `copy` for a table of scored rows
that learns. Prints the loss, how far it and all gradients are from those of the dump, and the
milliseconds of a gradient and of a whole step, as JSON.
"""

import json
import math
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional

from torch_models.steps import distance, milliseconds, read

GAMMA, ETA, LEARNING_RATE = 12.0, 1.0, 0.01


def main() -> None:
    warnings.filterwarnings("ignore")
    torch.set_num_threads(2)
    path, form, entities, repeats = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    dump = read(path)
    model = (Literal if form == "literal" else Factored)(dump, learns_rows=entities == "copy")
    if form == "compiled":
        model.relation, model.loss = torch.compile(model.relation), torch.compile(model.loss)
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    def gradient() -> torch.Tensor:
        optimiser.zero_grad()
        loss = model.query_loss(dump)
        loss.backward()
        return loss.detach()

    def step() -> None:
        gradient()
        optimiser.step()

    loss = gradient().item()
    distances = {name: distance(own, dump[f"gradient.{name}"]) for name, own in model.gradients().items()}
    if entities == "copy":
        optimiser.step()
        distances["rows after a step"] = model.row_distance(dump)
    print(json.dumps({
        "loss": loss,
        "gradient_distances": distances,
        "gradient_ms": milliseconds(gradient, repeats),
        "step_ms": milliseconds(step, repeats),
    }))


class Rana(nn.Module):
    """What both forms share: the tables, the layers, and eqs. 9 to 17."""

    def __init__(self, dump: dict, learns_rows: bool) -> None:
        super().__init__()
        self.entities = nn.Embedding.from_pretrained(dump["entities"])
        self.relations = nn.Embedding.from_pretrained(dump["relations"])
        self.scored = self.entities
        if learns_rows:
            self.scored = nn.Embedding.from_pretrained(dump["entities"].clone(), freeze=False)
        self.neighbours = dump["neighbours.relations"], dump["neighbours.entities"]
        self.counts = dump["neighbours.counts"]
        self.dim = dim = dump["entities"].shape[1]
        self.w1, self.w2 = nn.Linear(2 * dim, dim), nn.Linear(dim, 1, bias=False)
        self.w3, self.w4, self.w5 = nn.Linear(2 * dim, dim), nn.Linear(dim, dim), nn.Linear(2 * dim, dim)
        with torch.no_grad():
            for name, part in self.parts(lambda parameter: parameter).items():
                part.copy_(dump[f"weight.{name}"].view_as(part))

    def parts(self, of) -> dict:
        """What `of` gives for each parameter, by the names of `rana`'s blocks."""
        d = self.dim
        w1, w3, w5 = of(self.w1.weight), of(self.w3.weight), of(self.w5.weight)
        return {
            "w1.pair": w1[:, :d], "w1.relation": w1[:, d:], "b1": of(self.w1.bias), "w2": of(self.w2.weight),
            "w3.relation": w3[:, :d], "w3.entity": w3[:, d:], "b3": of(self.w3.bias),
            "w4": of(self.w4.weight), "b4": of(self.w4.bias),
            "w5.head": w5[:, :d], "w5.tail": w5[:, d:], "b5": of(self.w5.bias),
        }

    def gradients(self) -> dict:
        # Biases are columns in the dump.
        return {
            name: part.unsqueeze(1) if part.dim() == 1 else part
            for name, part in self.parts(lambda parameter: parameter.grad).items()
        }

    def row_distance(self, dump: dict) -> float:
        """How far rows that learned in one step are from where `rana` put them."""
        at = dump["learned.entities"]
        before = dump["entities"][at]
        return distance(self.scored.weight.detach()[at] - before, dump["learned.rows"] - before)

    def relation(self, heads: torch.Tensor, tails: torch.Tensor) -> torch.Tensor:
        """Eqs. 1 to 7."""
        h, t = self.entities(heads), self.entities(tails)
        r = t - h
        ends = torch.cat((self.encoded(heads, h, r), self.encoded(tails, t, r)), -1)
        return functional.leaky_relu(self.w5(ends)).mean(1)

    def attention(self, logits: torch.Tensor, entities: torch.Tensor) -> torch.Tensor:
        """Eq. 4 over the neighbours there are."""
        is_there = torch.arange(logits.shape[-1]) < self.counts[entities].unsqueeze(-1)
        return functional.softmax(logits.masked_fill(~is_there, -1e9), -1) * is_there

    def loss(self, relation: torch.Tensor, heads, tails, negatives) -> torch.Tensor:
        """Eqs. 9 to 13, summed over all pairs."""
        h, t, others = self.scored(heads), self.scored(tails), self.scored(negatives)
        with torch.no_grad():
            pair = torch.cat((h, t), -1).unsqueeze(2)
            other = torch.cat((h.unsqueeze(2).expand_as(others), others), -1)
            beta = functional.softmax((pair * other).sum(-1) / math.sqrt(2 * self.dim), -1)
        start = h + relation.unsqueeze(1)
        score = GAMMA - (start - t).norm(dim=-1)
        other_scores = GAMMA - (start.unsqueeze(2) - others).norm(dim=-1)
        return -functional.logsigmoid(score).sum() - (beta * functional.logsigmoid(-other_scores)).sum()

    def query_loss(self, dump: dict) -> torch.Tensor:
        """Eqs. 14 and 17, to the first order."""
        support, query = ([dump[f"{of}.{part}"] for part in ("heads", "tails", "negatives")] for of in ("support", "query"))
        relation = self.relation(support[0], support[1])
        (slope,) = torch.autograd.grad(self.loss(relation, *support), relation)
        return self.loss(relation - ETA * slope, *query) / query[0].numel()


class Literal(Rana):
    def encoded(self, entities: torch.Tensor, e: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
        relations, others = self.relations(self.neighbours[0][entities]), self.entities(self.neighbours[1][entities])
        r = r.unsqueeze(2).expand_as(relations)
        logits = self.w2(torch.tanh(self.w1(torch.cat((r, relations), -1)))).squeeze(-1)
        alpha = self.attention(logits, entities)
        aggregated = (alpha.unsqueeze(-1) * self.w3(torch.cat((relations, others), -1))).sum(2)
        return torch.sigmoid(self.w4(e + aggregated))


class Factored(Rana):
    def relation(self, heads: torch.Tensor, tails: torch.Tensor) -> torch.Tensor:
        self.projected = functional.linear(self.relations.weight, self.w1.weight[:, self.dim :])
        return super().relation(heads, tails)

    def encoded(self, entities: torch.Tensor, e: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
        relations = self.neighbours[0][entities]
        of_pair = functional.linear(r, self.w1.weight[:, : self.dim], self.w1.bias)
        hidden = torch.tanh(of_pair.unsqueeze(2) + functional.embedding(relations, self.projected))
        alpha = self.attention(self.w2(hidden).squeeze(-1), entities)
        rows = torch.cat((self.relations(relations), self.entities(self.neighbours[1][entities])), -1)
        sums = (alpha.unsqueeze(2) @ rows).squeeze(2)
        # The weights of an entity without neighbours add up to 0, not 1.
        aggregated = functional.linear(sums, self.w3.weight) + alpha.sum(-1, keepdim=True) * self.w3.bias
        return torch.sigmoid(self.w4(e + aggregated))


if __name__ == "__main__":
    main()
