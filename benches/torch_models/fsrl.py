"""FSRL: attention over neighbours and a recurrent autoencoder over supports (Zhang et al., AAAI 2020)."""

import torch
from torch import nn
from torch.nn import functional

from matching import Matching
from model import cell, linear, masked_softmax, without_second_bias


class Fsrl(Matching):
    EXPECTED = {**Matching.EXPECTED, "detach_decoder": False}

    def __init__(self, dump: dict, form: str) -> None:
        super().__init__(dump, form)
        dim, width = self.dim, 2 * self.dim
        self.hidden, self.logit = nn.Linear(width, dim), nn.Linear(dim, 1, bias=False)
        self.encoder = without_second_bias(nn.LSTM(width, width, batch_first=True))
        self.decoder = without_second_bias(nn.LSTMCell(width, width))
        self.support_hidden, self.support_logit = nn.Linear(width, dim), nn.Linear(dim, 1, bias=False)
        self.finish(form)

    def blocks(self, of) -> dict:
        return {
            **linear(of, "neighbour.hidden", self.hidden), "neighbour.logit": of(self.logit.weight),
            **cell(of, "support.encoder", self.encoder, "_l0"), **cell(of, "support.decoder", self.decoder),
            **linear(of, "support.hidden", self.support_hidden), "support.logit": of(self.support_logit.weight),
            **self.pair_encoder.blocks(of), **self.processor.blocks(of),
        }

    def encoded(self, entities: torch.Tensor) -> torch.Tensor:
        relations, others, mask = self.neighbours(entities)
        logits = self.logit(torch.tanh(self.hidden(torch.cat((relations, others), -1))))
        weights = masked_softmax(logits.squeeze(-1), mask)
        return torch.tanh((weights.unsqueeze(1) @ others).squeeze(1))

    def references(self, supports: torch.Tensor) -> tuple:
        outputs, (hidden, memory) = self.encoder(supports)
        hidden, memory, decoded = hidden[0], memory[0], []
        for _ in range(self.shots):
            hidden, memory = self.decoder(hidden, (hidden, memory))
            decoded.append(hidden)
        reconstruction = self.config["reconstruction"] * functional.mse_loss(torch.stack(decoded, 1), supports)
        rows = supports + outputs
        weights = functional.softmax(self.support_logit(torch.tanh(self.support_hidden(rows))), 1)
        return (weights * rows).sum(1), reconstruction
