"""The values of each metric as a curve, read twice from the disk and never held all at once."""

from collections.abc import Sequence
from dataclasses import field

from smlocal.contract.metrics.values import MetricValue, is_later
from smlocal.job.metrics.job_metrics import JobMetrics
from smlocal.quick_dataclass import dataclass
from smlocal.report.curve import Curve, Line
from smlocal.report.thinning import Thinned
from smlocal.report.words import clean_span, counted, figure, short_figure

_CLOSE_TOGETHER = 1.0
"""Seconds: values that all came within so little say more by their order than by their times."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricCurves:
    """A curve for each metric that has values, and the names of those that have none."""

    curves: tuple[Curve, ...] = ()
    without: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(kw_only=True, slots=True)
class _Extent:
    """What has to be known of a metric before it can be drawn."""

    lowest: float
    highest: float
    last: MetricValue
    by_host: dict[str, MetricValue] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    timed: bool = True
    end: float = 0.0

    def add(self, value: MetricValue) -> None:
        self.lowest = min(self.lowest, value.value)
        self.highest = max(self.highest, value.value)
        if is_later(value.at, self.last.at):
            self.last = value
        self.by_host[value.host] = value
        self.counts[value.host] = self.counts.get(value.host, 0) + 1
        if value.at is None:
            self.timed = False
        else:
            self.end = max(self.end, value.at)


def metric_curves(found: JobMetrics, began: float) -> MetricCurves:
    """All metrics on one scale of time since `began`, to be compared; by their order where times say little."""
    names = list(dict.fromkeys(definition.name for definition in found.definitions))
    extents: dict[str, _Extent] = {}
    first = last = None
    for value in found.values():
        if value.name not in extents:
            extents[value.name] = _Extent(lowest=value.value, highest=value.value, last=value)
        extents[value.name].add(value)
        if value.at is not None:
            first = value.at if first is None else min(first, value.at)
            last = value.at if last is None else max(last, value.at)
    start, end = (0.0, 0.0) if first is None or last is None else (min(began, first), last)
    close = first is None or last is None or last - first < _CLOSE_TOGETHER
    ranges = {
        name: (0.0, float(max(extent.counts.values()) - 1)) if close or not extent.timed else (start, end)
        for name, extent in extents.items()
    }
    lines = _lines(found, ranges, by_order={name for name in ranges if close or not extents[name].timed})
    curves = [_curve(name, extents[name], lines[name], ranges[name], found.hosts) for name in names if name in extents]
    return MetricCurves(
        curves=tuple(curves), without=tuple(name for name in names if name not in extents), notes=tuple(found.notes)
    )


def _lines(
    found: JobMetrics, ranges: dict[str, tuple[float, float]], *, by_order: set[str]
) -> dict[str, dict[str, Thinned]]:
    lines: dict[str, dict[str, Thinned]] = {name: {} for name in ranges}
    counts: dict[tuple[str, str], int] = {}
    for value in found.values():
        if value.name not in ranges:
            continue  # the job runs, and this is the first one
        line = lines[value.name].setdefault(value.host, Thinned(*ranges[value.name]))
        number = counts.get((value.name, value.host), 0)
        counts[value.name, value.host] = number + 1
        x = float(number) if value.name in by_order else value.at
        # What has come since the first look lies outside.
        if x is not None and x <= ranges[value.name][1]:
            line.add(x, value.value)
    return lines


def _curve(
    name: str, extent: _Extent, lines: dict[str, Thinned], x_range: tuple[float, float], hosts: Sequence[str]
) -> Curve:
    total = sum(extent.counts.values())
    start, end = x_range
    timed = start > 0
    most = max(extent.counts.values())
    return Curve(
        title=name,
        value=figure(extent.last.value),
        detail=f"{counted(total, 'value')}, {figure(extent.lowest)} to {figure(extent.highest)}",
        lines=[
            Line(label=host, value=figure(extent.by_host[host].value), points=lines[host].points)
            for host in hosts
            if host in lines
        ],
        x_range=x_range,
        x_words=("0 s", clean_span(end - start)) if timed else ("value 1", f"value {most:,}" if most > 1 else ""),
        y_range=(extent.lowest, extent.highest),
        y_words=(short_figure(extent.lowest), short_figure(extent.highest)),
    )
