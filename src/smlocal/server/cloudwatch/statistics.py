"""Values over time as statistics of periods. Pure."""

import math
from collections.abc import Iterable
from typing import Final

from smlocal.quick_dataclass import dataclass

STATISTICS: Final = ("SampleCount", "Average", "Sum", "Minimum", "Maximum")
_SHORT_PERIODS: Final = (1, 5, 10, 20, 30)
_MINUTE: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """The values of one period."""

    begin: float
    """Seconds since the epoch."""
    count: int
    total: float
    lowest: float
    highest: float

    def statistic(self, name: str) -> float:
        """One of `STATISTICS`."""
        values = (float(self.count), self.total / self.count, self.total, self.lowest, self.highest)
        return dict(zip(STATISTICS, values, strict=True))[name]


def is_period(seconds: int) -> bool:
    """True for periods that the service knows."""
    return seconds in _SHORT_PERIODS or seconds % _MINUTE == 0


def first_period(start: float, period: int) -> int:
    """Where periods begin: at a whole minute, short ones at a division of the minute."""
    step = min(period, _MINUTE)
    return math.floor(start / step) * step


def number_of_periods(start: float, end: float, period: int) -> int:
    """How many there are from `start` to `end`."""
    return max(0, math.ceil((end - first_period(start, period)) / period))


def buckets(points: Iterable[tuple[float, float]], *, start: float, end: float, period: int) -> list[Bucket]:
    """Those with values, by time. Points are times with values, in any order; `end` is not included."""
    begin = first_period(start, period)
    found: dict[int, tuple[int, float, float, float]] = {}
    for at, value in points:
        if begin <= at < end:
            index = int((at - begin) // period)
            count, total, lowest, highest = found.get(index, (0, 0.0, value, value))
            found[index] = (count + 1, total + value, min(lowest, value), max(highest, value))
    return [
        Bucket(begin=begin + index * period, count=count, total=total, lowest=lowest, highest=highest)
        for index, (count, total, lowest, highest) in sorted(found.items())
    ]
