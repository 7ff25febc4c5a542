"""TransE by PyKEEN's own training loop; run by `pretrain.py`.

    python pykeen_transe.py PATH_GRAPH KIND BATCH EPOCHS

KIND is `one` (one negative per fact, margin loss, SGD) or `many` (64 negatives, self-adversarial
loss, Adagrad). The normalisation of all entities after every step, PyKEEN's default, is left out:
it would take most of the time. Prints the facts per second of each epoch as JSON.
"""

import json
import sys
import time

import torch
from pykeen.losses import MarginRankingLoss, NSSALoss
from pykeen.models import TransE
from pykeen.training import SLCWATrainingLoop
from pykeen.training.callbacks import TrainingCallback
from pykeen.triples import TriplesFactory


class Clock(TrainingCallback):
    """Notes when each epoch ends."""

    def __init__(self) -> None:
        super().__init__()
        self.times = [time.perf_counter()]

    def post_epoch(self, epoch: int, epoch_loss: float, **kwargs) -> None:
        self.times.append(time.perf_counter())


def main() -> None:
    torch.set_num_threads(2)
    path, kind, batch, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    factory = TriplesFactory.from_path(path)
    if kind == "one":
        loss, negatives = MarginRankingLoss(margin=1.0, reduction="sum"), 1
    else:
        loss, negatives = NSSALoss(margin=6.0, adversarial_temperature=1.0, reduction="sum"), 64
    model = TransE(
        triples_factory=factory, embedding_dim=100, scoring_fct_norm=1, loss=loss, entity_constrainer=None, random_seed=0
    )
    parameters = model.parameters()
    optimiser = torch.optim.SGD(parameters, lr=0.01) if kind == "one" else torch.optim.Adagrad(parameters, lr=0.1)
    loop = SLCWATrainingLoop(
        model=model,
        triples_factory=factory,
        optimizer=optimiser,
        negative_sampler_kwargs={"num_negs_per_pos": negatives},
    )
    clock = Clock()
    loop.train(factory, num_epochs=epochs, batch_size=batch, use_tqdm=False, callbacks=clock)
    seconds = [end - start for start, end in zip(clock.times, clock.times[1:])]
    print(json.dumps([factory.num_triples / each for each in seconds]))


if __name__ == "__main__":
    main()
