"""One training step of a published model in plain PyTorch, on the inputs of rana's; run by `model_step.py`.

    python torch_models DUMP FORM REPEATS THREADS

FORM is one of those that `model.py` explains. Prints the loss, how far all gradients are from those of the dump, and the
milliseconds of a gradient and of a whole step, as JSON.
"""

import json
import sys
import warnings

import torch

from faan import Faan
from fsrl import Fsrl
from gana import Gana
from gmatching import Gmatching
from hire import Hire
from metar import Metar
from steps import milliseconds, read

MODELS = {"faan": Faan, "fsrl": Fsrl, "gana": Gana, "gmatching": Gmatching, "hire": Hire, "metar": Metar}
# The distance of a gradient below this share of all of them is relative to this share. There, what is left where large
# terms cancel is rounding: of the scale of a norm before another norm, of a key's bias, which a softmax does not see.
SMALL = 1e-3


def main() -> None:
    warnings.filterwarnings("ignore")
    torch.manual_seed(1)
    path, form, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3])
    torch.set_num_threads(int(sys.argv[4]))
    dump = read(path)
    model = MODELS[json.loads(dump["notes"]["about"])["config"]["model"]](dump, form)
    optimisers = model.optimisers()

    def gradient() -> torch.Tensor:
        for optimiser in optimisers:
            optimiser.zero_grad()
        return model.gradient()

    last = None

    def step() -> None:
        nonlocal last
        last = gradient()
        for optimiser in optimisers:
            optimiser.step()

    loss = gradient().item()
    distances = compared(model, dump)
    gradient_ms = milliseconds(gradient, repeats)
    step_ms = milliseconds(step, repeats)
    print(json.dumps({
        "loss": loss,
        "loss_after": last.item(),
        "gradient_distances": distances,
        "gradient_ms": gradient_ms,
        "step_ms": step_ms,
        "torch": torch.__version__,
    }))


def compared(model, dump: dict) -> dict:
    """How far each gradient is from that of the dump, relative to its size."""
    own = model.blocks(lambda parameter: parameter.grad)
    names = {name.removeprefix("gradient.") for name in dump if name.startswith("gradient.")}
    if own.keys() != names:
        sys.exit(f"the blocks are others: {own.keys() ^ names}")
    pairs = {name: (part.reshape(-1), dump[f"gradient.{name}"].reshape(-1)) for name, part in own.items()}
    if model.tables():
        grads = [table.weight.grad for table in model.tables()]
        dense = torch.cat([grad.to_dense() if grad.is_sparse else grad for grad in grads], -1)
        rows = torch.zeros_like(dense)
        rows[dump["gradient of entities, ids"]] = dump["gradient of entities"]
        pairs["rows of entities"] = dense, rows
    least = SMALL * sum(other.norm() ** 2 for _, other in pairs.values()).sqrt()
    return {name: ((own - other).norm() / other.norm().clamp(min=least)).item() for name, (own, other) in pairs.items()}


if __name__ == "__main__":
    main()
