"""The phases of a job, each as a row with a bar. The template `timeline.html` draws them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from smlocal.job.view import Bar, Span

_MIN_WIDTH = 4
"""So that the bar of a very short phase is visible."""
_GAP = 2.0
"""Between two parts of a row."""
_END_STATUSES = {"Completed", "Failed", "Stopped", "MaxRuntimeExceeded", "MaxWaitTimeExceeded"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Phase:
    """One row."""

    status: str
    message: str
    running: bool
    seconds: float
    left: float
    width: float
    """Of the bar. 0 for the status with which the job ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """The rows, and the total seconds."""

    WIDTH: ClassVar = 1000

    phases: tuple[Phase, ...]
    start: float
    """Seconds since 1970."""
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnSpan:
    """A part of a row."""

    text: str
    good: bool
    running: bool
    left: float
    width: float


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnBar:
    """A row beside the phases."""

    name: str
    spans: tuple[DrawnSpan, ...]
    seconds: float


def build_timeline(transitions: Sequence[Mapping[str, Any]], measured: Mapping[str, float], now: float) -> Timeline:
    """The timeline of a job; a phase that has not ended lasts until `now`.

    `measured` has the seconds of a phase where the run knows them: to the service the last one ends only after the
    clean-up.
    """
    start = min((transition["StartTime"] for transition in transitions), default=now)
    total = max((transition.get("EndTime") or now for transition in transitions), default=now) - start
    scale = Timeline.WIDTH / total if total > 0 else 0.0
    times = Counter(transition["Status"] for transition in transitions)
    phases = []
    for transition in transitions:
        status, began, end = transition["Status"], transition["StartTime"], transition.get("EndTime")
        seconds = (now if end is None else end) - began
        if times[status] == 1:
            seconds = measured.get(status, seconds)
        is_end = status in _END_STATUSES or transition.get("Final", False)
        width = 0.0 if is_end else min(Timeline.WIDTH, max(_MIN_WIDTH, seconds * scale))
        phases.append(
            Phase(
                status=status,
                message=transition.get("StatusMessage", ""),
                running=end is None,
                seconds=seconds,
                left=min(Timeline.WIDTH - width, (began - start) * scale),
                width=width,
            )
        )
    return Timeline(phases=tuple(phases), start=start, seconds=total)


def drawn_bars(bars: Sequence[Bar], timeline: Timeline, now: float) -> Iterator[DrawnBar]:
    """Bars on the same scale as the phases."""
    scale = Timeline.WIDTH / timeline.seconds if timeline.seconds > 0 else 0.0
    for bar in bars:
        spans = []
        for span in bar.spans:
            seconds = (now if span.ended is None else span.ended) - span.began
            width = min(Timeline.WIDTH, max(_MIN_WIDTH, seconds * scale - _GAP))
            left = max(0.0, min(Timeline.WIDTH - width, (span.began - timeline.start) * scale))
            spans.append(DrawnSpan(text=span.text, good=span.good, running=span.ended is None, left=left, width=width))
        yield DrawnBar(name=bar.name, spans=tuple(spans), seconds=sum(_seconds(span, now) for span in bar.spans))


def _seconds(span: Span, now: float) -> float:
    return (now if span.ended is None else span.ended) - span.began
