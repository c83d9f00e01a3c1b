"""Prune a network step by step, each iteration with tensors in a folder of its own: `prune_network.py FOLDER`.

As in the paper, there are ten iterations. In each, the smallest units are removed, and the rest is trained again. Two
units go each time, and none is left after the tenth. The accuracies are written to `accuracies.json`.
"""

import json
import sys
from pathlib import Path

import smdebug.pytorch as smd
import torch
from torch import nn

UNITS, REMOVED, CLASSES, ITERATIONS = 20, 2, 8, 10
SAMPLES, STEPS, FIRST_STEPS = 256, 60, 300


class Net(nn.Module):  # type: ignore[misc] # torch has no types here
    """Tells by the angle of a point which class it has."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.relu, self.out = nn.Linear(2, UNITS), nn.ReLU(), nn.Linear(UNITS, CLASSES)
        self.register_buffer("kept", torch.ones(UNITS))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.relu(self.hidden(x)) * self.kept)

    def without_smallest(self) -> "Net":
        """The same without the units whose outputs have the smallest weights."""
        sizes = self.out.weight.detach().abs().sum(0)
        sizes[self.kept == 0] = float("inf")
        pruned = Net()
        pruned.load_state_dict(self.state_dict())
        pruned.kept[sizes.argsort()[:REMOVED]] = 0
        return pruned


def fit(model: Net, loss: nn.Module, points: torch.Tensor, classes: torch.Tensor, steps: int) -> None:
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(model(points), classes).backward()
        optimizer.step()


def main(folder: Path) -> None:
    torch.manual_seed(0)
    angles = torch.rand(SAMPLES) * 2 * torch.pi
    points = torch.stack([angles.cos(), angles.sin()], 1)
    classes = (angles / (2 * torch.pi) * CLASSES).long()
    model = Net()
    fit(model, nn.CrossEntropyLoss(), points, classes, FIRST_STEPS)
    accuracies = [1.0]
    for iteration in range(1, ITERATIONS + 1):
        model, loss = model.without_smallest(), nn.CrossEntropyLoss()
        save = smd.SaveConfig(save_interval=STEPS // 2)
        hook = smd.Hook(str(folder / str(iteration)), save_config=save, include_regex=["CrossEntropyLoss_input"])
        hook.register_module(model)
        hook.register_loss(loss)
        hook.set_mode(smd.modes.TRAIN)
        fit(model, loss, points, classes, STEPS)
        hook.set_mode(smd.modes.EVAL)
        with torch.no_grad():
            scores = model(points)
            loss(scores, classes)
        accuracies.append(float((scores.argmax(1) == classes).float().mean()))
        hook.close()
    (folder / "accuracies.json").write_text(json.dumps(accuracies), encoding="utf-8")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
