"""Train sick and healthy models of many seeds, each with smdebug's hook: `train_seeds.py FOLDER FIRST_SEED SEEDS`.

A run is FOLDER/NAME/SEED. Data, weights and the order of the samples depend on the seed.
"""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from train_runs import (  # type: ignore[import-not-found]
    Deep,
    Images,
    Net,
    Sequences,
    boost,
    scale,
    set_lr,
    set_to,
    train,
)

Batches = Callable[[int], tuple[Any, Any]]


class MeanLoss(nn.modules.loss._Loss):  # type: ignore[misc] # smdebug registers no other
    """A loss that is reported as Keras reports it: the mean since the epoch began. Gradients are those of the loss."""

    def __init__(self, loss: nn.Module, batches: int) -> None:
        super().__init__()
        self.of = [loss]  # in a list, so that it is not part of the model
        self.batches = batches
        self.seen: list[float] = []

    def forward(self, predicted: Any, wanted: Any) -> Any:
        loss = self.of[0](predicted, wanted)
        self.seen = [*(self.seen if len(self.seen) < self.batches else ()), loss.item()]
        return loss + (sum(self.seen) / len(self.seen) - loss).detach()


def normal(seed: int, *shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def integers(seed: int, high: int, *shape: int) -> Any:
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(seed))


def always(x: Any, y: Any) -> Batches:
    """All samples at each step."""
    return lambda _step: (x, y)


def some(x: Any, y: Any, seed: int, size: int) -> Batches:
    """Others of the samples at each step."""

    def batch(step: int) -> tuple[Any, Any]:
        chosen = integers(1_000_003 * seed + step, len(x), size)
        return x[chosen], y[chosen]

    return batch


def sums(seed: int, samples: int = 2000) -> tuple[Any, Any]:
    """The target of a small network: the sum of four numbers, each with a weight near 1."""
    x = normal(seed, samples, 4)
    return x, x @ (1 + normal(seed + 1, 4, 1) / 4)


def blobs(seed: int, classes: int = 10, axes: int = 20, samples: int = 2000) -> tuple[Any, Any]:
    """Classes that can be told apart."""
    y = integers(seed, classes, samples)
    return normal(seed + 1, classes, axes)[y] * 1.5 + normal(seed + 2, samples, axes), y


def noisy_line(seed: int, samples: int = 2000) -> tuple[Any, Any]:
    """A regression of which a part cannot be predicted."""
    x = normal(seed, samples, 10)
    return x, x @ normal(seed + 1, 10, 1) + normal(seed + 2, samples, 1) / 2


def noisy_classes(seed: int, samples: int = 2000) -> tuple[Any, Any]:
    """Two classes, of which a fifth of the labels is wrong."""
    x = normal(seed, samples, 10)
    y = ((x @ normal(seed + 1, 10))[:] > 0).long()
    return x, torch.where(integers(seed + 2, 5, samples) == 0, 1 - y, y)


def network(axes: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(axes, 32), nn.ReLU(), nn.Linear(32, outputs))


def dead(model: nn.Module) -> nn.Module:
    """A network whose ReLU lets nothing through: only the bias of its output learns."""
    with torch.no_grad():
        model[0].bias.fill_(-1e3)
    return model


class Runs:
    """The runs of one seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self.seed = folder, seed

    def at(self, name: str) -> Path:
        return self._folder / name / str(self.seed)

    def train(self, name: str, model: Callable[[], nn.Module], data: Batches, **more: Any) -> None:
        torch.manual_seed(self.seed)
        train(self.at(name), model(), data, **more)

    def losses(self, name: str, model: Callable[[], nn.Module], data: Batches, **more: Any) -> None:
        """Only the loss is saved."""
        epoch = more.pop("epoch", 0)
        loss: nn.Module = nn.MSELoss() if data(0)[1].is_floating_point() else nn.CrossEntropyLoss()
        self.train(name, model, data, loss=MeanLoss(loss, epoch) if epoch else loss, save="Loss_output", **more)

    def of_losses(self) -> None:
        """Mini-batches, for the rules that judge losses."""
        seed = 10 * self.seed
        classes, line, unsure = (made(seed) for made in (blobs, noisy_line, noisy_classes))
        batches, small = some(*classes, seed, 32), some(*line, seed, 8)

        def mlp() -> nn.Module:
            return network(20, 10)

        def linear() -> nn.Module:
            return nn.Linear(10, 1)

        def by_chance(step: int) -> tuple[Any, Any]:
            return batches(step)[0], integers(1_000_003 * seed + step + 1, 10, 32)

        self.losses("classifier", mlp, batches, lr=0.1, steps=200)
        self.losses("long classifier", mlp, batches, lr=0.1, steps=1000, interval=10)
        self.losses("slow classifier", mlp, batches, lr=0.01, steps=200)
        self.losses("regression", linear, some(*line, seed, 32), lr=0.02, steps=200)
        self.losses("small batches", linear, small, lr=0.01, steps=200)
        self.losses("all data", mlp, always(*classes), lr=0.1, steps=200)
        self.losses("epochs", mlp, batches, lr=0.1, steps=310, epoch=62)
        self.losses("short epochs", mlp, batches, lr=0.05, steps=200, epoch=20)
        self.losses("epochs of a regression", linear, some(*line, seed, 32), lr=0.02, steps=310, epoch=62)
        two = some(*unsure, seed, 32)
        self.losses("wrong labels", lambda: nn.Linear(10, 2), two, lr=0.1, steps=200)
        self.losses("at its end", linear, always(*line), lr=0.05, steps=300)

        self.losses("rate 0", mlp, batches, lr=0, steps=200)
        self.losses("rate 0, long", mlp, batches, lr=0, steps=1000, interval=10)
        self.losses("rate 0, small batches", linear, small, lr=0, steps=200)
        self.losses("rate 0, epochs", mlp, batches, lr=0, steps=310, epoch=62)
        self.losses("rate 0, all data", mlp, always(*classes), lr=0, steps=200)
        self.losses("tiny rate", mlp, batches, lr=1e-6, steps=200)
        self.losses("dead network", lambda: dead(network(20, 10)), batches, lr=0.1, steps=200)
        self.losses("nothing to learn", mlp, by_chance, lr=0.1, steps=600)
        self.losses("rises", mlp, batches, lr=0, change=set_lr(-0.005), changed=0, steps=200)
        self.losses("rises slowly", linear, small, lr=0, change=set_lr(-0.001), changed=0, steps=200)
        self.losses("rises, epochs", mlp, batches, lr=0, change=set_lr(-0.005), changed=0, steps=310, epoch=62)
        self.losses("falls, then rises", mlp, batches, lr=0.1, change=set_lr(-0.1), changed=100, steps=400)
        self.losses("falls, then stops", mlp, always(*classes), lr=0.1, change=set_lr(0), changed=50, steps=200)
        validated = {"validation": some(*blobs(seed), seed + 1, 32), "steps": 150}
        self.losses("rate 0, validated", mlp, batches, lr=0, **validated)
        self.losses("validated", mlp, batches, lr=0.1, **validated)

    def of_labels(self) -> None:
        """Classifiers, of which labels and predictions are saved."""
        seed = 10 * self.seed
        x, y = blobs(seed, classes=4)
        asked = {"steps": 150, "interval": 10, "lr": 0.1, "save": "Loss_input", "loss": nn.CrossEntropyLoss()}
        self.train("four classes", lambda: network(20, 4), some(x, y, seed, 200), **asked)
        alike = x.clone()
        alike[y == 1] = normal(seed + 3, int((y == 1).sum()), 20)
        alike[y == 2] = normal(seed + 4, int((y == 2).sum()), 20)
        self.train("two classes alike", lambda: network(20, 4), some(alike, y, seed, 200), **asked)
        asked = {**asked, "steps": 30, "interval": 1}
        self.train("balanced", lambda: network(20, 4), some(x, y, seed, 32), **asked)
        rare = torch.cat([torch.nonzero(y != 3).flatten(), torch.nonzero(y == 3).flatten()[:30]])
        self.train("one class rare", lambda: network(20, 4), some(x[rare], y[rare], seed, 32), **asked)

    def of_layers(self) -> None:
        """Networks of which everything is saved."""
        data = always(*sums(10 * self.seed, 256))
        few = always(*sums(10 * self.seed, 64))
        self.train("network", Net, data, steps=10, validation=data)
        self.train("the same again", Net, data, steps=10, validation=data)
        self.train("another rate", Net, data, steps=10, lr=0.05, validation=data)
        no_end = shutil.ignore_patterns("training_job_end.ts")
        shutil.copytree(self.at("network"), self.at("no end"), ignore=no_end)
        self.train("dead", Net, few, change=set_to("fc1.bias", -1e3))
        self.train("saturated", Net, few, change=scale("fc2.weight", 1e4), save="_input_0")
        self.train("exploding", Net, few, change=set_lr(1e38))
        self.train("large updates", Net, few, change=set_lr(1e4), save="weight")
        self.train("constant weights", Net, few, change=set_to("fc3.weight", 0.1), save="weight")
        self.train("rate 0 in the end", Net, few, change=set_lr(0), save="Loss_output")
        self.train("well begun", lambda: Deep((1, 1, 1)), few, lr=0.001)
        self.train("badly begun", lambda: Deep((1, 10, 1)), few, lr=1e-6)

    def of_inputs(self) -> None:
        """Images and texts."""
        seed = 10 * self.seed

        def images(mean: float) -> Batches:
            return lambda step: (normal(1000 * seed + step, 32, 3, 4, 4) / 2 + mean, torch.zeros(32, 1))

        def texts(padded: int) -> Batches:
            def batch(step: int) -> tuple[Any, Any]:
                x = 1 + integers(1000 * seed + step, 9, 16, 20)
                x[torch.arange(20)[None] < integers(1000 * seed + step + 500, padded, 16, 1) + padded // 2] = 0
                return x, torch.zeros(16, 1)

            return batch

        self.train("images", Images, images(0.0), lr=0, steps=20, save="_input_0")
        self.train("images from 0 to 1", Images, images(0.45), lr=0, steps=20, save="_input_0")
        self.train("texts", Sequences, texts(6), lr=0, steps=10, save="_input_0")
        self.train("padded texts", Sequences, texts(14), lr=0, steps=10, save="_input_0")

    def of_generalisation(self) -> None:
        """Networks that learn by heart, and others."""
        seed = 10 * self.seed
        x, y = noisy_line(seed, 20_000)
        half = len(x) // 2
        asked = {"validation": always(x[half:], y[half:]), "save": "Loss_output"}
        self.train("learns", lambda: network(10, 1), always(x[:half], y[:half]), lr=0.02, steps=30, **asked)
        self.train(
            "learns by heart", lambda: network(10, 1), always(x[:16], y[:16]), lr=0.05, steps=200, interval=10, **asked
        )

    def of_trees(self) -> None:
        """Models of XGBoost."""
        boost(self.at("trees"), features=1, noise=False, depth=3, seed=self.seed)
        boost(self.at("many features"), features=12, noise=False, depth=3, seed=self.seed)
        boost(self.at("deep trees"), features=12, noise=True, depth=8, seed=self.seed)


if __name__ == "__main__":
    torch.set_num_threads(1)
    folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for seed in range(first, first + count):
        runs = Runs(folder, seed)
        for kind in (runs.of_losses, runs.of_labels, runs.of_layers, runs.of_inputs, runs.of_generalisation):
            kind()
        runs.of_trees()
