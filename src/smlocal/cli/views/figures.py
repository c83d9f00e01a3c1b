"""What a job used and reported, as rows of text with small curves.

For the end of a run and `describe`: `peak 212 MiB of 8 GiB     cpu peak 1.0 of 2`, `loss      0.127  ▇▅▃▂▁`; and for
`plan --try-line`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from smlocal.base.readable import readable_bytes
from smlocal.cli.terminal.layout import shortened
from smlocal.jobs.usage.series import read_series
from smlocal.sagemaker.contract.requested import definitions_of
from smlocal.terms.log_view import view_of
from smlocal.terms.usage import MIB, MemoryVerdict, Point, readable_memory

_LEVELS = "▁▂▃▄▅▆▇█"
MIN_VALUES = 4
"""Fewer values make no curve."""
_MAX_HOSTS = 4
_WIDTH = 16
_MAX_SHOWN = 8
_SHORT_NAME = 9
"""Shorter names are shown as the names of rows."""
_MAX_NAME = 40


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
        if advice["Verdict"] != MemoryVerdict.FITS:
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


def metric_lines(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Rows (name, text): the last values with a curve, and the notes."""
    metrics = answer["Local"]["Metrics"]
    courses = {each["MetricName"]: each["Course"] for each in metrics.get("Summaries", ())}
    final = answer.get("FinalMetricDataList", ())
    shown = [
        (
            shortened(each["MetricName"], _MAX_NAME),
            f"{each['Value']:.6g}",
            sparkline(courses.get(each["MetricName"], ())),
        )
        for each in final[:_MAX_SHOWN]
    ]
    longest = max((len(name) for name, _, _ in shown), default=0)
    width = max((len(value) for _, value, _ in shown), default=0)
    for index, (name, value, course) in enumerate(shown):
        text = f"{value:>{width}}  {course}".rstrip()
        yield (name, text) if longest <= _SHORT_NAME else ("" if index else "metrics", f"{name:<{longest}}  {text}")
    if len(final) > _MAX_SHOWN:
        yield "", f"and {len(final) - _MAX_SHOWN} more: smlocal metrics {answer['TrainingJobName']}"
    for note in metrics["Notes"]:
        yield "note", note


def tried_lines(request: Mapping[str, Any], texts: Sequence[str]) -> list[dict[str, Any]]:
    """Try the MetricDefinitions on lines: a document for each line, as the service's log shows it."""
    from smlocal.jobs.metrics.metrics_process import try_line

    documents = []
    for text in texts:
        line = view_of(text.encode(errors="surrogateescape"))
        found = [
            {"MetricName": each.name, "Value": each.value, "Says": each.verdict}
            for each in try_line(definitions_of(request), line)
        ]
        documents.append({"Line": line, "Metrics": found})
    return documents


def tried_rows(documents: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """The same as rows (heading, text)."""
    for document in documents:
        yield "Line", document["Line"]
        width = max((len(each["MetricName"]) for each in document["Metrics"]), default=0)
        for each in document["Metrics"]:
            yield "", f"{each['MetricName']:<{width}}  {each['Says']}"
