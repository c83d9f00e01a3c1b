"""The phases of a job, each as a row with a bar. The template `timeline.html` draws them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from smlocal.job.view import Bar, Span, Stage

_MIN_WIDTH = 4
"""So that the bar of a very short phase is visible."""
_GAP = 2.0
"""Between two parts of a row."""


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


def build_timeline(stages: Sequence[Stage], measured: Mapping[str, float], now: float) -> Timeline:
    """The timeline of a job; a phase that has not ended lasts until `now`.

    `measured` has the seconds of a phase where the run knows them: to the service the last one ends only after the
    clean-up.
    """
    start = min((stage.began for stage in stages), default=now)
    total = max((stage.ended or now for stage in stages), default=now) - start
    scale = Timeline.WIDTH / total if total > 0 else 0.0
    times = Counter(stage.name for stage in stages)
    phases = []
    for stage in stages:
        seconds = (now if stage.ended is None else stage.ended) - stage.began
        if times[stage.name] == 1:
            seconds = measured.get(stage.name, seconds)
        width = 0.0 if stage.final else min(Timeline.WIDTH, max(_MIN_WIDTH, seconds * scale))
        phases.append(
            Phase(
                status=stage.name,
                message=stage.message,
                running=stage.ended is None,
                seconds=seconds,
                left=min(Timeline.WIDTH - width, (stage.began - start) * scale),
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
