"""A metric in a few numbers."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from smlocal.contract.metrics.metric_values import MetricDefinition, MetricValue, is_later
from smlocal.job.metrics.values_file import read_values
from smlocal.quick_dataclass import dataclass

_MAX_POINTS = 64


@dataclass(kw_only=True, slots=True)
class MetricSummary:
    """One metric, over the whole job and all hosts."""

    name: str
    count: int = 0
    lowest: float = 0.0
    highest: float = 0.0
    last: MetricValue | None = None
    """By time; None if there is no value."""
    _sums: list[float] = field(default_factory=list)
    _each: int = 1
    """Values in each sum; the last sum may have fewer."""

    @property
    def points(self) -> list[float]:
        """At most 64 means of equally many values each, in their order."""
        return [total / (min(self._each, self.count - index * self._each)) for index, total in enumerate(self._sums)]

    @property
    def document(self) -> dict[str, Any]:
        """As in the `Local` block, without the last value, which the answer has."""
        return {
            "MetricName": self.name,
            "Count": self.count,
            "Minimum": self.lowest,
            "Maximum": self.highest,
            "Course": [float(f"{point:.7g}") for point in self.points],
        }

    def add(self, value: MetricValue) -> None:
        """Add the next value."""
        number = value.value
        self.lowest = number if not self.count else min(self.lowest, number)
        self.highest = number if not self.count else max(self.highest, number)
        if self.last is None or is_later(value.at, self.last.at):
            self.last = value
        if self.count == self._each * _MAX_POINTS:
            self._sums = [one + other for one, other in zip(self._sums[::2], self._sums[1::2], strict=True)]
            self._each *= 2
        if self.count % self._each:
            self._sums[-1] += number
        else:
            self._sums.append(number)
        self.count += 1


def summaries(job_directory: str, definitions: Sequence[MetricDefinition], hosts: Sequence[str]) -> list[MetricSummary]:
    """One for each metric, in the order of the definitions; also for those without values."""
    found = {each.name: MetricSummary(name=each.name) for each in definitions}
    for value in read_values(job_directory, definitions, hosts):
        found[value.name].add(value)
    return list(found.values())
