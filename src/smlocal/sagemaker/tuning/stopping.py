"""When a training job, or the search, is ended before its limits. Pure.

Hyperband is that of the paper (Li et al., 2018), for training jobs that cannot be paused: brackets, rungs and the part
that goes on. Promotions are asynchronous, as in the successive halving of the same authors (2020): a job that reaches a
rung is compared at once with all that reached it before.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from statistics import median
from typing import Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.tuning.trials import Objective

CONVERGED_AFTER: Final = 20
"""Training jobs without an improvement after which a search has converged: ours, the service publishes no number."""
ETA: Final = 3
"""One of so many goes on at each rung."""


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


@dataclass(kw_only=True, slots=True)
class Hyperband:
    """Decides in which bracket a trial begins, and whether it goes on."""

    least: int
    most: int
    """Resources: values of the objective metric, which is written once for each epoch."""
    rungs: dict[tuple[int, int], dict[int, float]] = field(default_factory=dict)
    """Bracket and resource to the costs of the trials that have reached it."""

    @property
    def brackets(self) -> int:
        """How many there are."""
        return int(math.log(self.most / self.least, ETA) + 1e-9) + 1

    def size(self, bracket: int) -> int:
        """The trials that a round begins in a bracket. Bracket 0 begins with the least resource."""
        s = self.brackets - 1 - bracket
        return math.ceil(self.brackets * int(ETA**s) / (s + 1))

    def bracket_of(self, index: int) -> int:
        """The bracket of a trial, from 0: rounds go through the brackets, as the paper does."""
        sizes = [self.size(bracket) for bracket in range(self.brackets)]
        index %= sum(sizes)
        for bracket, size in enumerate(sizes):
            if index < size:
                return bracket
            index -= size
        raise AssertionError(index)

    def levels(self, bracket: int) -> Sequence[int]:
        """The resources at which a trial of this bracket is judged."""
        found, level = [], self.least * ETA**bracket
        while level < self.most:
            found.append(level)
            level *= ETA
        return found

    def stops(self, trial: int, bracket: int, costs: Sequence[float]) -> bool:
        """True if a running trial is to be stopped. `costs`: of all its values so far, lower is better."""
        if len(costs) >= self.most:
            return True
        for level in self.levels(bracket):
            if len(costs) < level:
                return False
            seen = self.rungs.setdefault((bracket, level), {})
            mine = seen.setdefault(trial, costs[level - 1])
            rank = sum(other < mine for other in seen.values())
            if rank >= max(1, math.ceil(len(seen) / ETA)):
                return True
        return False

    def remember(self, ended: Mapping[int, tuple[int, Sequence[float]]]) -> None:
        """Count trials of an earlier supervisor: by number, bracket and costs."""
        for trial, (bracket, costs) in ended.items():
            for level in self.levels(bracket):
                if len(costs) >= level:
                    self.rungs.setdefault((bracket, level), {})[trial] = costs[level - 1]
