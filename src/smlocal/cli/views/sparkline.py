"""A curve as one line of text."""

import math
from collections.abc import Sequence
from itertools import pairwise

_LEVELS = "▁▂▃▄▅▆▇█"
MIN_VALUES = 4
"""Fewer values make no curve."""


def sparkline(values: Sequence[float], *, width: int = 16, low: float | None = None, high: float | None = None) -> str:
    """At most `width` levels between `low` and `high`, else between the lowest and the highest of the values.

    If there are more values, neighbours are replaced by their mean. NaN and infinity are gaps. Empty if there are fewer
    than four values.
    """
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < MIN_VALUES:
        return ""
    shown = _narrowed(values, width)
    kept = [value for value in shown if math.isfinite(value)]
    bottom = min(kept) if low is None else low
    top = max(kept) if high is None else high
    return "".join(_level(value, bottom, top) for value in shown)


def _level(value: float, bottom: float, top: float) -> str:
    if not math.isfinite(value):
        return " "
    if top / 2 <= bottom / 2:
        return _LEVELS[0]
    # With halves, since the difference may be too large for a float.
    share = (value / 2 - bottom / 2) / (top / 2 - bottom / 2)
    return _LEVELS[min(len(_LEVELS) - 1, max(0, int(share * len(_LEVELS))))]


def _narrowed(values: Sequence[float], width: int) -> list[float]:
    if len(values) <= width:
        return list(values)
    edges = [number * len(values) // width for number in range(width + 1)]
    return [_mean(values[start:end]) for start, end in pairwise(edges)]


def _mean(values: Sequence[float]) -> float:
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return math.nan
    total = sum(finite)
    # Divided first only if the sum is too large for a float: the mean of equal values may not be exact then.
    return total / len(finite) if math.isfinite(total) else sum(value / len(finite) for value in finite)
