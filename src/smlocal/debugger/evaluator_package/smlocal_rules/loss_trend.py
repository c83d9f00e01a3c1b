"""Whether a noisy loss falls: a trend over many looks at it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from smlocal_rules.tensors import Array

_FEWEST_LOOKS = 10
"""Fewer say too little about a loss with noise."""
FEWEST_OF_WINDOW = 3
"""Fewer have no trend."""
_FEWEST_WITHOUT_ANY_FALL = 5
"""Enough if not one look is below the one before: noise and a fall are."""
_ROUNDING = 1e-6
"""Differences below this part of a loss are those of 32-bit floats."""
_FALL_TO_SEE = 0.04
"""The part of a loss by which it falls from look to look. Noise may not hide it."""
_LATELY = 20
"""A loss has to fall over this many looks, or noise hides that it does."""
_LEVEL = 5
"""The level of a loss is the mean of this many looks."""
_NOISE = 20
"""The noise is that of this many of the last looks."""
_FALLS = -1.5
"""A trend below this falls. A loss that does not change is below it by chance in 7 of 100 windows."""
_RISES = 1.5
_NOISES_OF_FALL = 4.0
_NOISES_OF_RISE = 3.0
"""How many times as large as the noise a change of the level has to be."""
_GIVEN_BACK = 0.2
"""The part of its fall by which a loss has to rise again."""


def trend_of(looks: Sequence[float]) -> float:
    """The statistic of Mann and Kendall: near -1 to 1 without a trend, far below for a fall, far above for a rise.

    It counts how often a look is above an earlier one, so that single large losses do not matter.
    """
    array, count = np.asarray(looks), len(looks)
    later, earlier = np.tril_indices(count, -1)
    score = float(np.sign(array[later] - array[earlier]).sum())
    return score / math.sqrt(count * (count - 1) * (2 * count + 5) / 18)


def noise_of(looks: Sequence[float]) -> float:
    """The standard deviation of looks around their trend."""
    return float(np.sqrt(np.mean(np.diff(np.asarray(looks[-_NOISE:])) ** 2) / 2))


@dataclass(kw_only=True)
class LossTrend:
    """One loss. Losses are added; each `num_steps` steps their mean is a look, and a problem may be seen."""

    num_steps: int
    diff_percent: float
    increase_threshold_percent: float
    window: int
    settled_percent: float
    problem: str | None = None
    """The problem as of the last look, for a sentence that begins with the name of the loss."""
    judged: bool = False
    """Whether there have been enough looks."""
    looks: list[float] = field(default_factory=list)
    _losses: list[float] = field(default_factory=list)
    _began: int | None = None
    _last: int | None = None

    @property
    def fewest(self) -> int:
        """So many looks are needed, or more if there is much noise."""
        return min(_FEWEST_LOOKS, self.window)

    def add(self, step: int, loss: float) -> bool:
        """One more loss; whether it ends a look that has been judged."""
        if not math.isfinite(loss):
            self.problem, self.judged = f"is {loss:g}", True
            return True
        distance = step - self._last if self._last is not None else 0
        self._last = step
        ended = self._began is not None and step - self._began >= self.num_steps and self._end_look()
        if self._began is None:
            self._began = step
        self._losses.append(loss)
        if distance and step + distance - self._began >= self.num_steps:  # the next loss belongs to the next look
            ended = self._end_look() or ended
        return ended

    def _end_look(self) -> bool:
        self.looks.append(float(np.mean(self._losses)))
        self._losses, self._began = [], None
        looks = self.looks[-self.window :]
        never_fell = len(looks) >= _FEWEST_WITHOUT_ANY_FALL and bool(np.all(np.diff(looks) >= 0))
        if not never_fell and len(looks) < self.fewest:
            return False
        self.problem = self._unchanged() or self._rising()
        if self.problem is None and (missed := self._not_falling(looks)):
            if not never_fell and not self._noise_hides_no_fall():
                return False
            self.problem = missed
        self.judged = True
        return True

    def _noise_hides_no_fall(self) -> bool:
        """Whether there are enough looks to see a fall, or fewer are asked for."""
        if self.window < _FEWEST_LOOKS:
            return True
        size = float(np.mean(np.abs(self.looks[-_NOISE:])))
        error = noise_of(self.looks) * math.sqrt(12 / len(self.looks) ** 3)  # of the slope of a line through the looks
        return 3 * error <= _FALL_TO_SEE * size

    def _unchanged(self) -> str | None:
        last = self.looks[-self.fewest :]
        if max(last) - min(last) <= _ROUNDING * abs(last[0]):
            return f"has been {last[-1]:g} at {len(last)} looks"
        return None

    def _rising(self) -> str | None:
        levels = self._levels(self.looks)
        now, lowest = levels[-1], float(levels.min())
        rise, fall = now - lowest, self._at_first() - lowest
        if (
            rise > self.increase_threshold_percent / 100 * abs(lowest)
            and rise > _GIVEN_BACK * fall
            and rise > _NOISES_OF_RISE * noise_of(self.looks)
            and trend_of(self.looks[-_FEWEST_LOOKS:]) > _RISES
        ):
            return f"has risen from {lowest:g} to {now:g}"
        return None

    def _not_falling(self, looks: Sequence[float]) -> str | None:
        first, now = self._at_first(), float(self._levels(self.looks)[-1])
        fall = first - now
        if fall >= self.settled_percent / 100 * abs(first) and fall >= _NOISES_OF_FALL * noise_of(self.looks):
            return None
        if trend_of(looks) > _FALLS:
            return f"was {looks[0]:g} and is {looks[-1]:g}, and does not fall over {len(looks)} looks"
        needed = self.diff_percent / 100 * abs(first)
        if fall < needed * min(len(self.looks), _FEWEST_LOOKS):
            return f"has fallen only from {first:g} to {now:g} in {len(self.looks)} looks"
        levels = self._levels(self.looks)
        if len(levels) > _LATELY:
            before = float(levels[-1 - _LATELY])
            most = before - now + 2 * noise_of(self.looks) * math.sqrt(2 / _LEVEL)
            if most < needed * _LATELY:
                return f"has fallen only from {before:g} to {now:g} in {_LATELY} looks"
        return None

    def _at_first(self) -> float:
        """The level at first. A loss may fall far within the first looks, whose mean is then too low."""
        return max(float(self._levels(self.looks)[0]), self.looks[0])

    @staticmethod
    def _levels(looks: Sequence[float]) -> "Array":
        """The means of looks in a row."""
        size = min(_LEVEL, len(looks))
        return np.convolve(np.asarray(looks), np.full(size, 1 / size), mode="valid")
