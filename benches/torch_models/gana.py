"""GANA: gated attention over neighbours, a Bi-LSTM over pairs, scores on a hyperplane (Niu et al., SIGIR 2021)."""

import torch
from torch import nn
from torch.nn import functional

from model import cell, linear, masked_softmax, without_second_bias
from relation_meta import RelationMeta


class Gana(RelationMeta):
    COMPILED = ("encoded", "distances")
    EXPECTED = {
        **RelationMeta.EXPECTED, "free_places": "masked", "final_state": "hidden", "state_reading": "by_layer",
        "normals": "shared", "normal_length": "unit", "normal_step": "own",
    }

    def __init__(self, dump: dict, form: str) -> None:
        super().__init__(dump, form)
        self.keep_pairs()
        self.keep_neighbours()
        dim, layers, hidden = self.dim, self.config["lstm_layers"], self.config["lstm_hidden"]
        self.entities = self.learned(dump["entities"])
        self.relation_rows, self.entity_rows = self.frozen("relations"), self.frozen("entities.start")
        self.message, self.attention, self.gate = nn.Linear(2 * dim, dim), nn.Linear(dim, 1, bias=False), nn.Linear(dim, 1)
        lstm = nn.LSTM(2 * dim, hidden, layers, batch_first=True, bidirectional=True)
        self.lstm = without_second_bias(lstm)
        self.output = nn.Linear(2 * hidden * layers, dim)
        self.normals = nn.Parameter(torch.empty(self.shape("normals")))
        self.finish(form)

    def blocks(self, of) -> dict:
        found = {
            **linear(of, "neighbour.message", self.message), "neighbour.attention": of(self.attention.weight),
            **linear(of, "neighbour.gate", self.gate), **linear(of, "relation", self.output), "normals": of(self.normals),
        }
        for layer in range(self.lstm.num_layers):
            for direction, suffix in (("forward", ""), ("backward", "_reverse")):
                found |= cell(of, f"lstm{layer}.{direction}", self.lstm, f"_l{layer}{suffix}")
        return found

    def tables(self) -> list:
        return [self.entities]

    def encoded(self, entities: torch.Tensor) -> torch.Tensor:
        """Entities with their neighbours."""
        relations, others, mask = self.neighbours(entities)
        messages = functional.leaky_relu(self.message(torch.cat((relations, others), -1)))
        weights = masked_softmax(self.attention(messages).squeeze(-1), mask)
        context = (weights.unsqueeze(-1) * messages).sum(1)
        gate = torch.sigmoid(self.gate(context))
        return gate * context + (1 - gate) * self.entity_rows(entities)

    def relation(self, support: torch.Tensor) -> list:
        ids = self.pairs[0]
        pairs = self.encoded(ids.flatten()).view(*ids.shape[:2], 2 * self.dim)
        outputs, (states, _) = self.lstm(pairs)
        found = []
        for layer in range(self.lstm.num_layers):
            query = torch.cat((states[2 * layer], states[2 * layer + 1]), -1).unsqueeze(-1)
            weights = functional.softmax((outputs @ query).squeeze(-1), -1)
            found.append((weights.unsqueeze(1) @ outputs).squeeze(1))
        translation = self.output(torch.cat(found, -1))
        return [translation, self.normals.expand(len(ids), -1)]

    def distances(self, relation: list, pairs: torch.Tensor) -> torch.Tensor:
        translation, normal = relation[0].unsqueeze(1), functional.normalize(relation[1], dim=-1).unsqueeze(1)
        head, tail = (end - (end * normal).sum(-1, keepdim=True) * normal for end in (pairs[:, :, 0], pairs[:, :, 1]))
        return (head + translation - tail).norm(dim=-1)
