"""What the models share: the inputs of a dump, neighbours in padded places, and the optimisers."""

import json

import torch
from torch import nn
from torch.nn import functional


class Model(nn.Module):
    """A model on the inputs of a dump.

    `form` says how: `public` as the public code of the model does it, `trimmed` without what PyTorch lets a careful
    author leave out, `compiled` as `public` with the methods named in `COMPILED` through `torch.compile`.
    """

    COMPILED: tuple = ()
    # What the model is written for; another value in the dump is an error.
    EXPECTED: dict = {}

    def __init__(self, dump: dict, form: str) -> None:
        super().__init__()
        about = json.loads(dump["notes"]["about"])
        self.dump, self.config, self.dim = dump, about["config"], about["dim"]
        self.is_trimmed = form == "trimmed"
        other = {name: self.config.get(name) for name, value in self.EXPECTED.items() if self.config.get(name) != value}
        if other:
            raise SystemExit(f"{self.config['model']} is not written for {other}")

    def finish(self, form: str) -> None:
        """Loads the weights of the dump, once all layers are there."""
        with torch.no_grad():
            for name, part in self.blocks(lambda parameter: parameter).items():
                part.copy_(self.dump[f"weight.{name}"].view_as(part))
        if form == "compiled":
            for name in self.COMPILED:
                setattr(self, name, torch.compile(getattr(self, name)))

    def shape(self, block: str) -> torch.Size:
        return self.dump[f"weight.{block}"].shape

    def frozen(self, name: str) -> nn.Embedding:
        """A table that does not learn."""
        return nn.Embedding.from_pretrained(self.dump[name])

    def learned(self, rows: torch.Tensor) -> nn.Embedding:
        """A table that learns; with dense gradients, but for the trimmed form."""
        return nn.Embedding.from_pretrained(rows.clone(), freeze=False, sparse=self.is_trimmed)

    def blocks(self, of) -> dict:
        """What `of` gives for each parameter, by the names of rana's blocks."""
        raise NotImplementedError

    def tables(self) -> list:
        """The tables of entities that learn; side by side they are rana's rows."""
        return []

    def margin_loss(self, positive: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
        return functional.relu(self.config["margin"] - positive + negative).mean()

    def loss(self) -> torch.Tensor:
        raise NotImplementedError

    def gradient(self) -> torch.Tensor:
        """The loss of the batch; its gradients are in the parameters."""
        loss = self.loss()
        loss.backward()
        return loss.detach()

    def optimisers(self) -> list:
        rows = [table.weight for table in self.tables()]
        rest = [part for part in self.parameters() if part.requires_grad and not any(part is row for row in rows)]
        rate = self.config["learning_rate"]
        row_rate = self.config.get("entity_learning_rate") or rate
        if not self.is_trimmed:
            groups = [{"params": rest}] + ([{"params": rows, "lr": row_rate}] if rows else [])
            return [torch.optim.Adam(groups, lr=rate)]
        return [torch.optim.Adam(rest, lr=rate, fused=True)] + ([torch.optim.SparseAdam(rows, lr=row_rate)] if rows else [])

    def neighbours(self, entities: torch.Tensor) -> tuple:
        """The rows of the relations and of the entities in the places of each entity, and which places are taken."""
        mask = torch.arange(self.places.shape[1]) < self.counts[entities].unsqueeze(-1)
        places = self.places[entities]
        return self.relation_rows(places[..., 0]), self.entity_rows(places[..., 1]), mask

    def keep_neighbours(self) -> None:
        """The places of every entity, as public code keeps them: relation and entity side by side."""
        relations, entities = self.dump["neighbours.relations"], self.dump["neighbours.entities"]
        self.places, self.counts = torch.stack((relations, entities), -1), self.dump["neighbours.counts"]


def masked_softmax(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Over the places that are taken; zeros where there are none."""
    return functional.softmax(logits.masked_fill(~mask, -1e9), -1) * mask


def linear(of, name: str, layer: nn.Linear) -> dict:
    """The blocks of a layer with a bias."""
    return {name: of(layer.weight), f"{name}_bias": of(layer.bias)}


def cell(of, name: str, layer: nn.Module, suffix: str = "") -> dict:
    """The blocks of an LSTM. PyTorch has two biases; rana has one, which is their sum."""
    parts = {"input": "weight_ih", "hidden": "weight_hh", "bias": "bias_ih"}
    return {f"{name}.{own}": of(getattr(layer, theirs + suffix)) for own, theirs in parts.items()}


def without_second_bias(layer: nn.Module) -> nn.Module:
    with torch.no_grad():
        for name, part in layer.named_parameters():
            if name.startswith("bias_hh"):
                part.zero_()
    return layer
