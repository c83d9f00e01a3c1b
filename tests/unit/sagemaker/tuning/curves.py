"""Curves of losses that follow from their points, and what a strategy finds among them. The benchmark uses them too."""

import math
from random import Random

from smlocal.sagemaker.tuning.ranges import Range
from smlocal.sagemaker.tuning.search import Search, SearchPlan
from smlocal.sagemaker.tuning.trials import Objective, SearchDefinition

RANGES = (
    Range(name="a", kind="Continuous", low=0.0, high=1.0),
    Range(name="b", kind="Continuous", low=0.0, high=1.0),
)
LOSS = Objective(metric="loss", direction="Minimize")


def curve(point: dict[str, str], epochs: int, chance: Random) -> list[float]:
    """A loss that falls to a bottom, which depends on the point; with a little noise."""
    bottom = (float(point["a"]) - 0.3) ** 2 + (float(point["b"]) - 0.7) ** 2
    return [bottom + math.exp(-epoch / 8) + chance.gauss(0, 0.001) for epoch in range(1, epochs + 1)]


def best_with(strategy: str, seed: int, *, budget: int, most: int) -> float:
    """The best bottom that is found with so many epochs."""
    plan = SearchPlan(
        strategy=strategy,
        definitions=(SearchDefinition(objective=LOSS, ranges=RANGES),),
        seed=seed,
        most=10_000,
        parallel=1,
        least_resource=1,
        most_resource=most,
    )
    search, chance, used = Search(plan=plan), Random(seed), 0
    while used < budget:
        trial = search.next(str)
        assert trial is not None
        values = curve(trial.tuned, most, chance)
        for count in range(1, most + 1):
            search.values[trial.number] = values[:count]
            used += 1
            if search.band is not None and search.stops(trial):
                break
        trial.status, trial.value = "Stopped", search.values[trial.number][-1]
        search.end(trial, 0.0)
    full = [each for each in search.trials if len(search.values[each.number]) == most]
    best = min(full, key=lambda each: each.value or 0.0)
    return (float(best.tuned["a"]) - 0.3) ** 2 + (float(best.tuned["b"]) - 0.7) ** 2
