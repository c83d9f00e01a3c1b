"""Charts of what a host used, over the time since training began."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from smlocal.contract.usage import MIB, ContainerUsage, readable_memory
from smlocal.job.usage.series import UsageSeries
from smlocal.readable import readable_bytes
from smlocal.report.chart import XY, Chart, Line, Range, downsample
from smlocal.report.formatting import axis_duration

_LIMIT_SHOWN_FROM = 0.5
"""The limit of the instance type is drawn if the peak is above this share of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostCharts:
    """The charts of one host. There are none if its series is missing."""

    name: str
    figures: Mapping[str, Any]
    """Of the `Usage` block."""
    charts: tuple[Chart, ...]


def host_charts(figures: Mapping[str, Any], series: UsageSeries, began: float) -> HostCharts:
    """A chart of each figure that was measured."""
    charts = _charts(figures, series, began) if series.points else ()
    return HostCharts(name=figures["Name"], figures=figures, charts=tuple(charts))


def _charts(figures: Mapping[str, Any], series: UsageSeries, began: float) -> Iterator[Chart]:
    x_range = (min(began, series.points[0].at), series.points[-1].at)
    chart = partial(_chart, x_range=x_range)
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


def _chart(
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
