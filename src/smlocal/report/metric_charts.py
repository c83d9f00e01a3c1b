"""A chart for each metric. The values are read from the disk twice, so that they need not fit into memory."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from smlocal.contract.metrics.metric_values import MetricValue, is_later
from smlocal.job.metrics.job_metrics import JobMetrics
from smlocal.report.chart import Chart, Downsampler, Line, Range
from smlocal.report.formatting import axis_duration, counted, number, short_number

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
