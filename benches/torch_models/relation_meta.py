"""What MetaR, GANA and HiRe share: four lookups of pairs, the margin loss and the inner step."""

import torch

from model import Model


class RelationMeta(Model):
    """A model that makes a relation of a support and moves it against the gradient of the support's loss."""

    EXPECTED = {
        "inner_reduction": "mean_batch", "outer_includes_support": True, "inner_step": True, "train_entities": True, "J": 1,
    }

    def keep_pairs(self) -> None:
        """Supports and queries with their negatives, as pairs of ids: tasks × pairs × 2."""
        self.pairs = []
        for of in ("support", "query"):
            heads, tails, negatives = (self.dump[f"{of}.{part}"] for part in ("heads", "tails", "negatives"))
            self.pairs += [torch.stack((heads, tails), -1), torch.stack((heads, negatives.squeeze(-1)), -1)]

    def embedded(self) -> list:
        """The rows of support, its negatives, query, its negatives."""
        return [self.entities(pairs) for pairs in self.pairs]

    def relation(self, support: torch.Tensor) -> list:
        """What the inner step moves, each tasks × numbers; the translation first."""
        raise NotImplementedError

    def distances(self, relation: list, pairs: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def margin(self, relation: list, pairs: torch.Tensor, negatives: torch.Tensor) -> torch.Tensor:
        near, far = self.distances(relation, pairs), self.distances(relation, negatives)
        return self.margin_loss(-near, -far)

    def other_loss(self) -> torch.Tensor:
        """What is minimised too."""
        return torch.zeros(())

    def gradient(self) -> torch.Tensor:
        support, support_negatives, query, negatives = self.embedded()
        relation = self.relation(support)
        inner = self.margin(relation, support, support_negatives)
        if self.is_trimmed:
            slopes = torch.autograd.grad(inner, relation, retain_graph=True)
        else:
            # As the public code: all the way back, and what is found stays in the gradients.
            for part in relation:
                part.retain_grad()
            inner.backward(retain_graph=True)
            slopes = [part.grad for part in relation]
        moved = [part - self.config["beta"] * slope for part, slope in zip(relation, slopes)]
        outer = self.margin(moved, query, negatives) + self.other_loss()
        (inner + outer if self.is_trimmed else outer).backward()
        return (inner + outer).detach()
