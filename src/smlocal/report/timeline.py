"""When the job was in which phase: a row for each, a bar where it lies in the whole."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smlocal.report.markup import escaped
from smlocal.report.words import span

_WIDTH = 1000
_LEAST = 4
"""A phase of no time is seen all the same."""
_ENDINGS = {"Completed", "Failed", "Stopped", "MaxRuntimeExceeded", "MaxWaitTimeExceeded"}


def timeline(transitions: Sequence[Mapping[str, Any]], measured: Mapping[str, float], now: float) -> str:
    """The rows; a phase that still goes on ends at `now`, for the time being."""
    if not transitions:
        return ""
    start = transitions[0]["StartTime"]
    end = max([transition.get("EndTime") or now for transition in transitions])
    passed = [transition["Status"] for transition in transitions]
    rows = []
    for transition in transitions:
        once = passed.count(transition["Status"]) == 1
        rows.append(_row(transition, start, end, now, measured.get(transition["Status"]) if once else None))
    total = f'<div class="ends"><span>0 s</span><span>{span(end - start)}</span></div>'
    return f'<div class="timeline">{"".join(rows)}{total}</div>'


def _row(transition: Mapping[str, Any], start: float, end: float, now: float, measured: float | None) -> str:
    status, message = transition["Status"], transition.get("StatusMessage", "")
    if status in _ENDINGS:
        return f'<span class="phase">{escaped(status)}</span><span class="said">{escaped(message)}</span>'
    began = transition["StartTime"]
    ended = transition.get("EndTime")
    # As the run measured it, where it did: the last phase ends for the service only after the clean-up.
    seconds = (now if ended is None else ended) - began if measured is None else measured
    so_far = ' <span class="far">so far</span>' if ended is None else ""
    shown = span(seconds) + so_far
    drawing = "".join(_bar(began - start, seconds, end - start, going=ended is None))
    return (
        f'<span class="phase" title="{escaped(message)}">{escaped(status)}</span>'
        f'<svg viewBox="0 0 {_WIDTH} 10" preserveAspectRatio="none" aria-hidden="true">{drawing}</svg>'
        f'<span class="seconds">{shown}</span>'
    )


def _bar(after: float, seconds: float, whole: float, *, going: bool) -> Iterator[str]:
    scale = _WIDTH / whole if whole > 0 else 0.0
    width = min(float(_WIDTH), max(float(_LEAST), seconds * scale))
    left = min(_WIDTH - width, after * scale)
    yield f'<path class="grid" d="M0 5H{_WIDTH}"/>'
    yield f'<rect class="bar{" going" if going else ""}" x="{left:.1f}" y="1" width="{width:.1f}" height="8"/>'
