"""Train small models, sick and healthy ones, each with smdebug's hook and a folder of its own: `train_runs.py FOLDER`.

A change of a sick run is made at step 3, before its forward pass.
"""

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import smdebug.pytorch as smd
import torch
import xgboost
from smdebug.xgboost import Hook as XGBoostHook
from torch import nn

Change = Callable[[nn.Module, torch.optim.Optimizer], None]
CHANGED = 3
"""The step of the change."""


class Net(nn.Module):  # type: ignore[misc] # torch has no types here
    """One activation of each kind, named as PyTorch users name them."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.relu = nn.Linear(4, 16), nn.ReLU()
        self.fc2, self.tanh = nn.Linear(16, 16), nn.Tanh()
        self.fc3, self.sigmoid = nn.Linear(16, 16), nn.Sigmoid()
        self.out = nn.Linear(16, 1)

    def forward(self, x: Any) -> Any:
        return self.out(self.sigmoid(self.fc3(self.tanh(self.fc2(self.relu(self.fc1(x)))))))


class Deep(nn.Module):  # type: ignore[misc] # as above
    """Three layers with numbered activations."""

    def __init__(self, scales: tuple[float, float, float]) -> None:
        super().__init__()
        self.fc1, self.relu1 = nn.Linear(4, 32), nn.ReLU()
        self.fc2, self.relu2 = nn.Linear(32, 32), nn.ReLU()
        self.fc3, self.relu3 = nn.Linear(32, 32), nn.ReLU()
        self.out = nn.Linear(32, 1)
        for layer, scale in zip((self.fc1, self.fc2, self.fc3), scales, strict=True):
            nn.init.kaiming_normal_(layer.weight)
            layer.weight.data *= scale

    def forward(self, x: Any) -> Any:
        return self.out(self.relu3(self.fc3(self.relu2(self.fc2(self.relu1(self.fc1(x)))))))


class Classifier(nn.Module):  # type: ignore[misc] # as above
    """Two classes."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        return self.fc(x)


class Images(nn.Module):  # type: ignore[misc] # as above
    """Takes images of three colours."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 1, 4)

    def forward(self, x: Any) -> Any:
        return self.conv(x).flatten(1)


class Sequences(nn.Module):  # type: ignore[misc] # as above
    """Takes sequences of tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.out = nn.Embedding(10, 4), nn.Linear(4, 1)

    def forward(self, x: Any) -> Any:
        return self.out(self.embedding(x).mean(1))


def train(
    folder: Path,
    model: nn.Module,
    data: Callable[[int], tuple[Any, Any]],
    *,
    steps: int = 8,
    lr: float = 0.1,
    loss: nn.Module | None = None,
    validation: Callable[[int], tuple[Any, Any]] | None = None,
    change: Change | None = None,
    changed: int = CHANGED,
    interval: int = 1,
    save: str = ".*",
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Train with the data of each step, and validate after each step if there is data for it."""
    loss = loss or nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr)
    everything = {"save_all": True} if save == ".*" else {"include_regex": [save]}
    hook = smd.Hook(str(folder), save_config=smd.SaveConfig(save_interval=interval), **everything, **(settings or {}))
    hook.register_module(model)
    hook.register_loss(loss)
    for step in range(steps):
        if step == changed and change:
            with torch.no_grad():
                change(model, optimizer)
        if validation:
            hook.set_mode(smd.modes.TRAIN)
        inputs, wanted = data(step)
        optimizer.zero_grad()
        loss(model(inputs), wanted).backward()
        optimizer.step()
        if validation:
            hook.set_mode(smd.modes.EVAL)
            inputs, wanted = validation(step)
            with torch.no_grad():
                loss(model(inputs), wanted)
    hook.close()


def numbers(_step: int) -> tuple[Any, Any]:
    """Data that can be learned."""
    x = torch.randn(64, 4, generator=torch.Generator().manual_seed(1))
    return x, x.sum(1, keepdim=True)


def other_numbers(step: int) -> tuple[Any, Any]:
    """The same until the change, and then something else."""
    x, y = numbers(step)
    return (x, y) if step < CHANGED else (x, y + 10)


def classes(step: int, *, sick: bool = False) -> tuple[Any, Any]:
    """Half of the samples of each class; when it is sick, only the first class after the change."""
    y = torch.arange(32) % 2
    if sick and step >= CHANGED:
        y = torch.zeros_like(y)
    x = torch.randn(32, 4, generator=torch.Generator().manual_seed(1))
    return x * 0.1 + (2.0 * y - 1)[:, None], y


def images(mean: float, deviation: float) -> Callable[[int], tuple[Any, Any]]:
    """Images with this mean and standard deviation."""

    def batch(step: int) -> tuple[Any, Any]:
        x = torch.randn(32, 3, 4, 4, generator=torch.Generator().manual_seed(step))
        return x * deviation + mean, torch.zeros(32, 1)

    return batch


def sequences(step: int, *, sick: bool = False) -> tuple[Any, Any]:
    """Three of ten tokens are padding; when it is sick, eight of ten after the change."""
    x = 1 + torch.arange(160).reshape(16, 10) % 9
    x[:, 8 if sick and step >= CHANGED else 3 :].clamp_(min=1)
    x[:, : 8 if sick and step >= CHANGED else 3] = 0
    return x, torch.zeros(16, 1)


def set_lr(lr: float) -> Change:
    def change(_model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        optimizer.param_groups[0]["lr"] = lr

    return change


def set_to(parameter: str, value: float) -> Change:
    def change(model: nn.Module, _optimizer: torch.optim.Optimizer) -> None:
        model.get_parameter(parameter).fill_(value)

    return change


def scale(parameter: str, factor: float) -> Change:
    def change(model: nn.Module, _optimizer: torch.optim.Optimizer) -> None:
        model.get_parameter(parameter).mul_(factor)

    return change


def train_networks(folder: Path) -> None:
    def seeded(made: Callable[[], nn.Module]) -> nn.Module:
        torch.manual_seed(0)
        return made()

    train(folder / "healthy", seeded(Net), numbers, steps=10, validation=numbers)
    shutil.copytree(folder / "healthy", folder / "stalled", ignore=shutil.ignore_patterns("training_job_end.ts"))
    train(folder / "steady", seeded(Net), numbers, save="Loss")
    train(folder / "flat", seeded(Net), numbers, change=set_lr(0), save="Loss")
    train(folder / "dead", seeded(Net), numbers, change=set_to("fc1.bias", -1e3))
    train(folder / "tanh", seeded(Net), numbers, change=scale("fc2.weight", 1e4), save="_input_0|^gradient")
    train(folder / "sigmoid", seeded(Net), numbers, change=set_to("fc3.bias", 8), save="_input_0")
    train(folder / "deep-sigmoid", seeded(Net), numbers, change=set_to("fc3.bias", 40), save="_input_0")
    train(folder / "exploding", seeded(Net), numbers, change=set_lr(1e38))
    train(folder / "large-updates", seeded(Net), numbers, change=set_lr(1e4), save="weight")
    train(folder / "small-updates", seeded(Net), numbers, change=set_lr(1e-5), save="weight")
    train(folder / "constant", seeded(Net), numbers, change=set_to("fc3.weight", 0.1), save="weight")
    train(folder / "overfit", seeded(Net), numbers, validation=other_numbers, save="Loss")
    train(folder / "underfit", seeded(Net), numbers, lr=0, validation=numbers, save="Loss")
    train(folder / "deep", seeded(lambda: Deep((1, 1, 1))), numbers, lr=0.001)
    train(folder / "poor", seeded(lambda: Deep((1, 10, 1))), numbers, lr=1e-6)
    train(
        folder / "reductions",
        seeded(Net),
        numbers,
        steps=6,
        change=set_to("fc1.bias", -1e3),
        save="gradient",
        settings={
            "reduction_config": smd.ReductionConfig(abs_reductions=["mean"]),
        },
    )
    train(folder / "tiny", seeded(lambda: Deep((0.01, 0.01, 0.01))), numbers, lr=0.001)
    entropy = nn.CrossEntropyLoss
    train(folder / "classes", seeded(Classifier), classes, loss=entropy(), steps=6)
    train(folder / "imbalance", seeded(Classifier), lambda step: classes(step, sick=True), loss=entropy(), steps=6)
    wrong = seeded(Classifier)
    with torch.no_grad():
        wrong.fc.weight.zero_()
        wrong.fc.bias.copy_(torch.tensor([5.0, -5.0]))
    train(folder / "one-class", wrong, classes, loss=entropy(), lr=0, steps=6)
    train(folder / "images", seeded(Images), images(0, 1), lr=0, steps=6)
    train(folder / "dark-images", seeded(Images), images(-0.5, 1), lr=0, steps=6)
    train(folder / "loud-images", seeded(Images), images(0, 2), lr=0, steps=6)
    train(folder / "sequences", seeded(Sequences), sequences, steps=6)
    train(folder / "padding", seeded(Sequences), lambda step: sequences(step, sick=True), steps=6)


def boost(folder: Path, *, features: int, noise: bool, depth: int, seed: int = 0) -> None:
    """A model of XGBoost: the sum of all features is above 0, or nothing that can be learned."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(600, 12))
    y = random.integers(0, 2, 600) if noise else (x[:, :features].sum(1) > 0).astype(int)
    train_data, validation = xgboost.DMatrix(x[:400], y[:400]), xgboost.DMatrix(x[400:], y[400:])
    hook = XGBoostHook(
        str(folder), save_config=smd.SaveConfig(save_interval=1), save_all=True, validation_data=validation
    )
    parameters = {"objective": "multi:softmax", "num_class": 2, "max_depth": depth, "eta": 1.0, "nthread": 1}
    evals = [(train_data, "train"), (validation, "validation")]
    xgboost.train(parameters, train_data, 4, evals=evals, callbacks=[hook], verbose_eval=False)
    hook.close()


if __name__ == "__main__":
    torch.set_num_threads(1)
    there = Path(sys.argv[1])
    train_networks(there)
    boost(there / "trees", features=1, noise=False, depth=3)
    boost(there / "many-features", features=12, noise=False, depth=3)
    boost(there / "noise", features=12, noise=True, depth=8)
