"""Metrics as the service takes them from a log: what counts as a value, how exact it is, and which one is final."""

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from smlocal.quick_dataclass import dataclass

OVERRUN_SECONDS = 0.1
"""A regex that takes longer than this over a line is broken off."""
MOST_OVERRUNS = 3
"""After so many of them its metric is switched off."""
LONGEST_LINE = 1 << 18
"""Characters of a line that are searched; an event of CloudWatch Logs held as much."""

_SINGLE = struct.Struct("<f")


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricDefinition:
    """One element of MetricDefinitions."""

    name: str
    regex: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricValue:
    """One value of a metric, and the line it was taken from: which host's, and when it came."""

    name: str
    value: float
    at: float | None
    """None where nobody knows."""
    host: str


def definitions_of(request: Mapping[str, Any]) -> tuple[MetricDefinition, ...]:
    """The definitions of a valid request, in its order."""
    given = (request.get("AlgorithmSpecification") or {}).get("MetricDefinitions") or ()
    return tuple(MetricDefinition(name=each["Name"], regex=each["Regex"]) for each in given)


def single_precision(value: float) -> float | None:
    """The nearest float32, which is what the service keeps; None for what is none: NaN, infinite or too large."""
    try:
        (single,) = _SINGLE.unpack(_SINGLE.pack(value))
    except OverflowError:
        return None
    return float(single) if math.isfinite(single) else None


def number_in(text: str | None) -> float | None:
    """The value that a group matched; None where it is no number, as in `cat=dog`: the service drops that silently."""
    if text is None or "_" in text or not text.isascii():
        return None
    try:
        return single_precision(float(text))
    except ValueError:
        return None


def is_later(one: float | None, other: float | None) -> bool:
    """True when a value of time `one`, found after one of time `other`, is the later of the two."""
    return other is None or (one is not None and one >= other)


def final_metric_data(last: Iterable[MetricValue]) -> list[dict[str, Any]]:
    """FinalMetricDataList, of the last value of each metric."""
    return [
        {"MetricName": each.name, "Value": each.value} | ({} if each.at is None else {"Timestamp": int(each.at)})
        for each in last
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tried:
    """What a definition takes from a line that somebody gave to try it."""

    name: str
    value: float | None = None
    text: str | None = None
    """What the first group matched; None where the regex found nothing, or its group took no part."""
    found: bool = False
    slow: bool = False
    """True when the regex was broken off."""

    @property
    def verdict(self) -> str:
        """In words."""
        if self.slow:
            return f"stopped after {OVERRUN_SECONDS * 1000:g} ms: a line that takes longer has no value"
        if self.value is not None:
            return str(self.value)
        if not self.found:
            return "no match"
        matched = "nothing" if self.text is None else f"'{self.text}'"
        return f"no value: the first group matched {matched}, which is not a number"


def of_name(definitions: Sequence[MetricDefinition]) -> list[str]:
    """The names of the metrics, each once: several definitions may feed one."""
    return list(dict.fromkeys(each.name for each in definitions))
