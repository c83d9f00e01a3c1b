"""The phases of a job, each as a row with a bar. The template `timeline.html` draws them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

_MIN_WIDTH = 4
"""So that the bar of a very short phase is visible."""
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
        width = 0.0 if status in _END_STATUSES else min(Timeline.WIDTH, max(_MIN_WIDTH, seconds * scale))
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
    return Timeline(phases=tuple(phases), seconds=total)
