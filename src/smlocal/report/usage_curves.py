"""What a host used, as curves over the time since training began."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from smlocal.contract.usage import MIB, ContainerUsage, Point, readable
from smlocal.job.usage.series import Series
from smlocal.quick_dataclass import dataclass
from smlocal.readable import readable_bytes
from smlocal.report.curve import Curve, Line
from smlocal.report.thinning import Place
from smlocal.report.words import clean_span

_WORTH_SHOWING = 0.5
"""Share of what an instance has from which on the instance's end is in sight."""
_PERCENT = 100.0


@dataclass(frozen=True, kw_only=True, slots=True)
class HostCurves:
    """One host's curves; none where its series is gone."""

    name: str
    figures: Mapping[str, Any]
    """Of the `Usage` block."""
    curves: tuple[Curve, ...]


def host_curves(figures: Mapping[str, Any], series: Series, began: float) -> HostCurves:
    """Curves of everything that was measured."""
    points = series.points
    if not points:
        return HostCurves(name=figures["Name"], figures=figures, curves=())
    axis = _Axis(start=min(began, points[0].at), end=points[-1].at)
    curves = chain(
        [_memory(figures, points, axis), _cpu(figures, points, axis)],
        _traffic(axis, series.containers, "Network", "received", "sent"),
        _traffic(axis, series.containers, "Disk", "read", "written"),
        _gpus(figures, points, axis),
    )
    return HostCurves(name=figures["Name"], figures=figures, curves=tuple(curves))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Axis:
    start: float
    end: float

    def curve(
        self,
        title: str,
        *,
        lines: Sequence[Line],
        words: Callable[[float], str],
        value: str = "",
        detail: str = "",
        limit: float | None = None,
        top: float | None = None,
    ) -> Curve:
        """From nothing to the highest value, or to the limit where it is not far."""
        highest = max((y for line in lines for _, y in line.points), default=0.0)
        if limit is not None and highest < _WORTH_SHOWING * limit:
            limit = None
        top = max(highest, limit or 0.0, top or 0.0)
        return Curve(
            title=title,
            value=value,
            detail=detail,
            lines=lines,
            x_range=(self.start, self.end),
            x_words=("0 s", clean_span(self.end - self.start)),
            y_range=(0.0, top or 1.0),
            y_words=("0", words(top) if top else ""),
            limit=limit,
        )


def _memory(figures: Mapping[str, Any], points: Sequence[Point], axis: _Axis) -> Curve:
    kind = figures["InstanceType"]
    size = kind["MemoryMiB"] * MIB
    peak = readable(figures["MemoryPeakMiB"] * MIB)
    return axis.curve(
        "Memory",
        value=f"peak {peak}",
        detail=f"of {readable(size)} in {kind['Name']}",
        lines=[_line(points, "memory", lambda point: point.memory)],
        words=readable,
        limit=size,
    )


def _cpu(figures: Mapping[str, Any], points: Sequence[Point], axis: _Axis) -> Curve:
    kind = figures["InstanceType"]
    return axis.curve(
        "CPU",
        value=f"peak {figures['CpuPeak']:.1f} cores",
        detail=f"of {kind['VCpus']} in {kind['Name']}, mean {figures['CpuMean']:.2f}",
        lines=[_line(points, "cpu", lambda point: point.cpu_cores)],
        words=lambda cores: f"{cores:.1f}",
        limit=kind["VCpus"],
    )


def _traffic(axis: _Axis, containers: Sequence[ContainerUsage], kind: str, taken: str, given: str) -> Iterator[Curve]:
    """Bytes in a second, of what is counted from the start of each container."""
    ways = (taken, given)
    totals = [_total(containers, f"{kind.lower()}_{way}") for way in ways]
    lines = [
        Line(label=way, value=readable_bytes(total), points=_rates(containers, f"{kind.lower()}_{way}"))
        for way, total in zip(ways, totals, strict=True)
        if total is not None
    ]
    if not lines:
        return
    alone = f"{lines[0].label} {lines[0].value}" if len(lines) == 1 else ""  # several have a legend
    detail = "bytes a second; totals below" if len(lines) > 1 else "bytes a second"
    yield axis.curve(
        kind, value=alone, detail=detail, lines=lines, words=lambda rate: f"{readable_bytes(round(rate))}/s"
    )


def _total(containers: Sequence[ContainerUsage], name: str) -> int | None:
    counts = [getattr(container.points[-1], name) for container in containers if container.points]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _rates(containers: Sequence[ContainerUsage], name: str) -> list[Place]:
    rates: list[Place] = []
    for container in containers:
        before, had = container.began, 0
        for point in container.points:
            count = getattr(point, name)
            if count is None or point.at <= before:
                continue
            rates.append((point.at, max(0, count - had) / (point.at - before)))
            before, had = point.at, count
    return rates


def _gpus(figures: Mapping[str, Any], points: Sequence[Point], axis: _Axis) -> Iterator[Curve]:
    if figures["GpuPeakPercent"] is not None:
        mean = figures["GpuMeanPercent"]
        yield axis.curve(
            "GPU",
            value=f"peak {figures['GpuPeakPercent']} %",
            detail="" if mean is None else f"mean {mean:.0f} %",
            lines=[_line(points, "gpu", lambda point: point.gpu_percent)],
            words=lambda share: f"{share:.0f} %",
            top=_PERCENT,
        )
    if figures["GpuMemoryPeakMiB"] is not None:
        yield axis.curve(
            "GPU memory",
            value=f"peak {readable(figures['GpuMemoryPeakMiB'] * MIB)}",
            lines=[_line(points, "gpu memory", lambda point: point.gpu_memory)],
            words=readable,
        )


def _line(points: Sequence[Point], label: str, value: Callable[[Point], float | None]) -> Line:
    found = [(point.at, value(point)) for point in points]
    return Line(label=label, value="", points=[(at, number) for at, number in found if number is not None])
