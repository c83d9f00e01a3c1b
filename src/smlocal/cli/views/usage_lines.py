"""The usage of a job as text, for the end of a run and `describe`: `peak 212 MiB of 8 GiB     cpu peak 1.0 of 2`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from smlocal.cli.views.sparkline import sparkline
from smlocal.contract.usage import MIB, Point, Verdict, readable_memory
from smlocal.job.usage.series import read_series
from smlocal.readable import readable_bytes

_MAX_HOSTS = 4
_WIDTH = 16


def summary_lines(usage: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Rows (name, text): the hosts with the highest memory peaks, and advice if the instance type may be too small."""
    hosts = sorted(usage["Hosts"], key=lambda host: -host["MemoryPeakMiB"])
    figures = [_figures(host) for host in hosts[:_MAX_HOSTS]]
    width = max((len(memory) for memory, _ in figures), default=0)
    for index, (memory, others) in enumerate(figures):
        name = f"{hosts[index]['Name']} " if len(hosts) > 1 else ""
        yield "" if index else "memory", f"{name}{memory:<{width}}     {others}"
    if len(hosts) > _MAX_HOSTS:
        yield "", f"and {len(hosts) - _MAX_HOSTS} more with lower peaks"
    for advice in usage["Advice"]:
        if advice["Verdict"] != Verdict.FITS:
            yield "advice", advice["Sentences"][0]
    for note in usage["Notes"]:
        yield "note", note


def describe_lines(usage: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Rows (name, text): everything that was measured, and all advice."""
    for host in usage["Hosts"]:
        memory, others = _figures(host)
        yield host["Name"], f"memory {memory}     {others}"
        yield "", f"cpu mean {host['CpuMean']:.2f}{_traffic(host)}"
        yield from (("", text) for text in _disk_held(host["DiskHeldBytes"]))
    for advice in usage["Advice"]:
        yield from (("Advice", sentence) for sentence in advice["Sentences"])
    for note in usage["Notes"]:
        yield "Note", note


def _figures(host: Mapping[str, Any]) -> tuple[str, str]:
    """The memory, and the other figures."""
    points: Sequence[Point] = ()
    with suppress(OSError):
        points = read_series(host["Series"]).points
    kind = host["InstanceType"]
    limit = host.get("MemoryLimitMiB")
    memory = (
        f"peak {readable_memory(host['MemoryPeakMiB'] * MIB)} of {readable_memory((limit or kind['MemoryMiB']) * MIB)}"
    )
    memory += " (Local.Memory)" if limit else ""
    others = f"cpu peak {host['CpuPeak']:.1f} of {kind['VCpus']}"
    if len(points) > 1:
        memory = _with_curve(memory, points, lambda point: point.memory)
        others = _with_curve(others, points, lambda point: point.cpu_cores)
    if host["GpuPeakPercent"] is not None:
        others += f"     gpu peak {host['GpuPeakPercent']} %, {readable_memory(host['GpuMemoryPeakMiB'] * MIB)}"
    return memory, others


def _with_curve(text: str, points: Sequence[Point], value: Callable[[Point], float]) -> str:
    curve = sparkline(evenly(points, value), width=_WIDTH, low=0)
    return f"{text}  {curve}" if curve else text


def evenly(points: Sequence[Point], value: Callable[[Point], float]) -> list[float]:
    """At most 16 values: the highest of equal periods of time, since points become rarer."""
    if len(points) <= _WIDTH:
        return [value(point) for point in points]
    first = points[0].at
    period = max(points[-1].at - first, 1.0) / _WIDTH
    found: list[float] = []
    for point in points:
        place = min(_WIDTH - 1, max(0, int((point.at - first) / period)))
        if place < len(found):
            found[-1] = max(found[-1], value(point))
        else:
            # The point after a period without points covers both.
            found += [value(point)] * (place + 1 - len(found))
    return found


def _disk_held(folders: Mapping[str, int | None]) -> Iterator[str]:
    known = {folder: size for folder, size in folders.items() if size}
    if known:
        yield "disk held " + ", ".join(f"{folder} {readable_bytes(size)}" for folder, size in known.items())
    unknown = [folder for folder, size in folders.items() if size is None]
    if unknown:
        yield f"disk use not counted: {', '.join(unknown)}"


def _traffic(host: Mapping[str, Any]) -> str:
    pairs = (
        ("disk read", host["DiskReadBytes"]),
        ("written", host["DiskWrittenBytes"]),
        ("network received", host["NetworkReceivedBytes"]),
        ("sent", host["NetworkSentBytes"]),
    )
    return "".join(f"   {name} {readable_bytes(count)}" for name, count in pairs if count is not None)
