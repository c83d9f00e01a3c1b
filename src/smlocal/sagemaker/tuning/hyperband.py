"""Hyperband as it is published (Li et al., 2018), for training jobs that cannot be paused. Pure.

Brackets, rungs and the part that goes on are those of the paper. Promotions are asynchronous, as in the successive
halving of the same authors (2020): a job that reaches a rung is compared at once with all that reached it before.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from smlocal.base.quick_dataclass import dataclass

ETA: Final = 3
"""One of so many goes on at each rung."""


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
