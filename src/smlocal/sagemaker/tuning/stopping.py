"""When a training job, or the search, is ended before its limits. Pure."""

from collections.abc import Sequence
from dataclasses import field
from statistics import median
from typing import Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.tuning.trials import Objective

CONVERGED_AFTER: Final = 20
"""Training jobs without an improvement after which a search has converged: ours, the service publishes no number."""


def is_below_median(values: Sequence[float], earlier: Sequence[Sequence[float]], objective: Objective) -> bool:
    """`TrainingJobEarlyStoppingType: Auto`, as the developer guide describes it.

    True if the latest value is worse than the median of the running averages of earlier jobs up to the same epoch. A
    job without so many values says nothing about that epoch.
    """
    epoch = len(values)
    averages = [sum(each[:epoch]) / epoch for each in earlier if epoch and len(each) >= epoch]
    return bool(averages) and objective.better(median(averages), values[-1])


@dataclass(kw_only=True, slots=True)
class SearchProgress:
    """Whether the results of a search still improve."""

    objective: Objective
    best: float | None = None
    """The best that counts: others may be better by a little."""
    idle: int = 0
    """Training jobs that have ended since then."""
    converged: float | None = None
    """When it was first seen that nothing improves any more."""
    values: list[float] = field(default_factory=list)

    def add(self, value: float | None, at: float) -> None:
        """The result of a training job that has ended; None if it has none."""
        if value is not None and (self.best is None or self.objective.improves(value, self.best)):
            self.best, self.idle = value, 0
        else:
            self.idle += 1
        if value is not None:
            self.values.append(value)
        if self.converged is None and self.best is not None and self.idle >= CONVERGED_AFTER:
            self.converged = at
