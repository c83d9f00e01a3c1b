"""Small line charts of metrics and of the usage of hosts: what each shows, and where its lines are in the drawing.

The template `macros.html` draws them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from smlocal.base.formatting import axis_duration, number, short_number
from smlocal.base.readable import counted, readable_bytes
from smlocal.jobs.metrics.job_metrics import JobMetrics
from smlocal.jobs.page_parts import XY, Chart, Line, Range
from smlocal.jobs.usage.series import UsageSeries
from smlocal.terms.metrics import MetricValue, is_later
from smlocal.terms.usage import MIB, ContainerUsage, readable_memory

COLUMNS = 300
"""More columns would not be visible."""


class Downsampler:
    """Reduces a series of any length: the first, lowest, highest and last value of each column are kept."""

    def __init__(self, start: float, end: float) -> None:
        """Columns of equal width from `start` to `end`; points outside count for the first or last column."""
        self._start = start
        self._width = (end - start) / COLUMNS
        self._columns: dict[int, list[tuple[int, XY]]] = {}
        self._count = 0

    def add(self, x: float, y: float) -> None:
        """Add the next point."""
        column = int((x - self._start) / self._width) if self._width > 0 else 0
        point = (self._count, (x, y))
        self._count += 1
        kept = self._columns.setdefault(min(COLUMNS - 1, max(0, column)), [point] * 4)
        if y < kept[1][1][1]:
            kept[1] = point
        if y > kept[2][1][1]:
            kept[2] = point
        kept[3] = point

    @property
    def points(self) -> list[XY]:
        """The points that were kept, in the order they were added."""
        return [point for column in sorted(self._columns) for _, point in sorted(set(self._columns[column]))]


def downsample(points: Iterable[XY], x_range: Range) -> list[XY]:
    """The points of a series to draw."""
    kept = Downsampler(*x_range)
    for x, y in points:
        kept.add(x, y)
    return kept.points


_MIN_SECONDS = 1.0
"""If the times of all values are within less, the values are drawn in their order instead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricCharts:
    """Charts of the metrics that have values, and the names of the others."""

    charts: tuple[Chart, ...] = ()
    without_values: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(kw_only=True, slots=True)
class _Metric:
    """A summary of the values of one metric."""

    lowest: float
    highest: float
    last: MetricValue
    last_of_host: dict[str, MetricValue] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    """Values of each host."""
    timed: bool = True
    """False if the values are drawn in their order, without times."""
    x_range: Range = (0.0, 0.0)
    lines: dict[str, Downsampler] = field(default_factory=dict)

    def add(self, value: MetricValue) -> None:
        self.lowest = min(self.lowest, value.value)
        self.highest = max(self.highest, value.value)
        if is_later(value.at, self.last.at):
            self.last = value
        self.last_of_host[value.host] = value
        self.counts[value.host] += 1
        self.timed = self.timed and value.at is not None


def metric_charts(found: JobMetrics, began: float) -> MetricCharts:
    """The charts. Their horizontal axis is the time since `began`, or the order of the values."""
    metrics, times = _summarised(found)
    for metric in metrics.values():
        if times and times[1] - times[0] >= _MIN_SECONDS and metric.timed:
            metric.x_range = (min(began, times[0]), times[1])
        else:
            metric.timed = False
            metric.x_range = (0.0, float(max(metric.counts.values()) - 1))
    _add_lines(found, metrics)
    names = dict.fromkeys(definition.name for definition in found.definitions)
    return MetricCharts(
        charts=tuple(_chart(name, metrics[name], found.hosts) for name in names if name in metrics),
        without_values=tuple(name for name in names if name not in metrics),
        notes=tuple(found.notes),
    )


def _summarised(found: JobMetrics) -> tuple[dict[str, _Metric], Range | None]:
    """All metrics that have values, and the first and last time of any value."""
    metrics: dict[str, _Metric] = {}
    times: Range | None = None
    for value in found.values():
        if value.name not in metrics:
            metrics[value.name] = _Metric(lowest=value.value, highest=value.value, last=value)
        metrics[value.name].add(value)
        if value.at is not None:
            first, last = times or (value.at, value.at)
            times = (min(first, value.at), max(last, value.at))
    return metrics, times


def _add_lines(found: JobMetrics, metrics: dict[str, _Metric]) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for value in found.values():
        # A running job may have new values since the first reading. They are left out.
        if value.name not in metrics:
            continue
        metric = metrics[value.name]
        x = value.at if metric.timed else float(counts[value.name, value.host])
        counts[value.name, value.host] += 1
        if x is not None and x <= metric.x_range[1]:
            metric.lines.setdefault(value.host, Downsampler(*metric.x_range)).add(x, value.value)


def _chart(name: str, metric: _Metric, hosts: Sequence[str]) -> Chart:
    if metric.timed:
        x_labels = ("0 s", axis_duration(metric.x_range[1] - metric.x_range[0]))
    else:
        most = max(metric.counts.values())
        x_labels = ("value 1", f"value {most:,}" if most > 1 else "")
    return Chart(
        title=name,
        value=number(metric.last.value),
        detail=f"{counted(metric.counts.total(), 'value')}, {number(metric.lowest)} to {number(metric.highest)}",
        lines=[
            Line(label=host, value=number(metric.last_of_host[host].value), points=metric.lines[host].points)
            for host in hosts
            if host in metric.lines
        ],
        x_range=metric.x_range,
        x_labels=x_labels,
        y_range=(metric.lowest, metric.highest),
        y_labels=(short_number(metric.lowest), short_number(metric.highest)),
    )


_LIMIT_SHOWN_FROM = 0.5
"""The limit of the instance type is drawn if the peak is above this share of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostCharts:
    """The charts of one host. There are none if its series is missing."""

    name: str
    figures: Mapping[str, Any]
    """The figures of the `Usage` block."""
    charts: tuple[Chart, ...]


def host_charts(figures: Mapping[str, Any], series: UsageSeries, began: float) -> HostCharts:
    """A chart of each figure that was measured."""
    charts = _charts(figures, series, began) if series.points else ()
    return HostCharts(name=figures["Name"], figures=figures, charts=tuple(charts))


def _charts(figures: Mapping[str, Any], series: UsageSeries, began: float) -> Iterator[Chart]:
    x_range = (min(began, series.points[0].at), series.points[-1].at)
    chart = partial(_usage_chart, x_range=x_range)
    kind = figures["InstanceType"]

    def measured(name: str) -> list[Line]:
        points = [(point.at, getattr(point, name)) for point in series.points]
        return [Line(label="", value="", points=downsample((p for p in points if p[1] is not None), x_range))]

    limit = figures.get("MemoryLimitMiB")
    memory = (limit or kind["MemoryMiB"]) * MIB
    yield chart(
        "Memory",
        value=f"peak {readable_memory(figures['MemoryPeakMiB'] * MIB)}",
        detail=f"of {readable_memory(memory)} {'(Local.Memory)' if limit else 'in ' + kind['Name']}",
        lines=measured("memory"),
        label=readable_memory,
        limit=memory,
    )
    yield chart(
        "CPU",
        value=f"peak {figures['CpuPeak']:.1f} cores",
        detail=f"of {kind['VCpus']} in {kind['Name']}, mean {figures['CpuMean']:.2f}",
        lines=measured("cpu_cores"),
        label=lambda cores: f"{cores:.1f}",
        limit=kind["VCpus"],
    )
    for title, directions in (("Network", ("received", "sent")), ("Disk", ("read", "written"))):
        counters = [(direction, f"{title.lower()}_{direction}") for direction in directions]
        lines = [line for each in counters if (line := _traffic(series.containers, *each, x_range)) is not None]
        if lines:
            yield chart(
                title,
                value=f"{lines[0].label} {lines[0].value}" if len(lines) == 1 else "",  # several have a legend
                detail="bytes per second" if len(lines) == 1 else "bytes per second; totals below",
                lines=lines,
                label=lambda rate: f"{readable_bytes(round(rate))}/s",
            )
    if figures["GpuPeakPercent"] is not None:
        mean = figures["GpuMeanPercent"]
        yield chart(
            "GPU",
            value=f"peak {figures['GpuPeakPercent']} %",
            detail="" if mean is None else f"mean {mean:.0f} %",
            lines=measured("gpu_percent"),
            label=lambda share: f"{share:.0f} %",
            top=100.0,
        )
    if figures["GpuMemoryPeakMiB"] is not None:
        peak = readable_memory(figures["GpuMemoryPeakMiB"] * MIB)
        yield chart("GPU memory", value=f"peak {peak}", lines=measured("gpu_memory"), label=readable_memory)


def _usage_chart(
    title: str,
    *,
    x_range: Range,
    lines: Sequence[Line],
    label: Callable[[float], str],
    value: str,
    detail: str = "",
    limit: float | None = None,
    top: float = 0.0,
) -> Chart:
    """The vertical axis ends at the highest value, at `top`, or at the limit if that is not far away."""
    top = max(top, *(y for line in lines for _, y in line.points), 0.0)
    if limit is not None and top < _LIMIT_SHOWN_FROM * limit:
        limit = None
    top = max(top, limit or 0.0)
    return Chart(
        title=title,
        value=value,
        detail=detail,
        lines=lines,
        x_range=x_range,
        x_labels=("0 s", axis_duration(x_range[1] - x_range[0])),
        y_range=(0.0, top or 1.0),
        y_labels=("0", label(top) if top else ""),
        limit=limit,
    )


def _traffic(containers: Sequence[ContainerUsage], label: str, counter: str, x_range: Range) -> Line | None:
    """Bytes per second from a counter that starts at zero in each container. None if it was not measured."""
    rates: list[XY] = []
    total = None
    for container in containers:
        time, count = container.began, 0
        for point in container.points:
            counted = getattr(point, counter)
            if counted is None or point.at <= time:
                continue
            rates.append((point.at, max(0, counted - count) / (point.at - time)))
            time, count = point.at, counted
        if container.points and (last := getattr(container.points[-1], counter)) is not None:
            total = (total or 0) + last
    if total is None:
        return None
    return Line(label=label, value=readable_bytes(total), points=downsample(rates, x_range))
