"""Metrics as the service extracts them from a log: which texts are values, their precision, and which one is final."""

import math
import struct
from collections.abc import Iterable
from typing import Any

from smlocal.base.quick_dataclass import dataclass

SEARCH_SECONDS = 0.1
"""The search of a line that takes longer is cancelled."""
MAX_SLOW_LINES = 3
"""After this many cancelled searches the metric is disabled."""
MAX_LINE = 1 << 18
"""Characters of a line that are searched: the former size limit of an event in CloudWatch Logs."""

_SINGLE = struct.Struct("<f")


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricPattern:
    """A metric, and the regular expression that finds its values in the logs."""

    name: str
    regex: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricValue:
    """One value of a metric, with the host and the time of its line."""

    name: str
    value: float
    at: float | None
    """None if it is not known."""
    host: str


def single_precision(value: float) -> float | None:
    """The nearest float32, which is what the service keeps. None for NaN, infinity and too large numbers."""
    try:
        (single,) = _SINGLE.unpack(_SINGLE.pack(value))
    except OverflowError:
        return None
    return float(single) if math.isfinite(single) else None


def number_in(text: str | None) -> float | None:
    """The value in the match of a group. None if it is not a number, as in `cat=dog`: the service silently drops it."""
    if text is None or "_" in text or not text.isascii():
        return None
    try:
        return single_precision(float(text))
    except ValueError:
        return None


def is_later(one: float | None, other: float | None) -> bool:
    """True if a value of time `one`, found after a value of time `other`, is the later of the two."""
    return other is None or (one is not None and one >= other)


def final_metric_data(last: Iterable[MetricValue]) -> list[dict[str, Any]]:
    """The last value of each metric, as it is stored."""
    return [
        {"MetricName": each.name, "Value": each.value} | ({} if each.at is None else {"Timestamp": int(each.at)})
        for each in last
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class TriedDefinition:
    """The result of a definition for a line of `plan --try-line`."""

    name: str
    value: float | None = None
    text: str | None = None
    """The match of the first group. None if there is none."""
    found: bool = False
    slow: bool = False
    """True if the search was cancelled."""

    @property
    def verdict(self) -> str:
        """The result in words."""
        if self.slow:
            return f"stopped after {SEARCH_SECONDS * 1000:g} ms: a line that takes longer has no value"
        if self.value is not None:
            return str(self.value)
        if not self.found:
            return "no match"
        matched = "nothing" if self.text is None else f"'{self.text}'"
        return f"no value: the first group matched {matched}, which is not a number"
