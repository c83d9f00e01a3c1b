"""Attempts and containers of a job as bars."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smlocal.job.view import Bar, Span
from smlocal.platforms.ai_platform.lifecycle.entries import Decision, Happened
from smlocal.platforms.ai_platform.views.history import what_follows, what_happened

_ENDS = {Happened.EXITED, Happened.LOST, Happened.START_REFUSED}
_GO_ON = {Decision.RESTART_REPLICA, Decision.MOVE_REPLICA}


def bars(entries: Sequence[Mapping[str, Any]], ended: float | None) -> Iterator[Bar]:
    """The attempts if there are several, then the containers of each replica that has ended at least once.

    `ended`: when the job has ended.
    """
    begun = [entry["At"] for entry in entries if entry["Happened"] == Happened.ATTEMPT]
    if len(begun) > 1:
        ends = [*begun[1:], ended]
        attempts = [Span(began=at, ended=ends[n], text=f"attempt {n + 1}") for n, at in enumerate(begun)]
        yield Bar(name="attempts", spans=tuple(attempts))
    containers = [entry for entry in entries if Happened(entry["Happened"]) in _ENDS and "Replica" in entry]
    for name in sorted({entry["Replica"] for entry in containers}):
        own = [entry for entry in containers if entry["Replica"] == name]
        yield Bar(name=name, spans=tuple(_spans(own, begun, ended)))


def _spans(containers: Sequence[Mapping[str, Any]], attempts: Sequence[float], ended: float | None) -> Iterator[Span]:
    restarted: float | None = None
    for entry in containers:
        began = attempts[entry["Attempt"] - 1] if restarted is None else restarted
        good = entry.get("ExitCode") == 0 or entry["Decision"] == Decision.NOTHING  # it ended with the job
        texts = filter(None, (what_happened(entry), what_follows(entry)))
        yield Span(began=began, ended=entry["At"], text=", ".join(texts), good=good)
        restarted = entry["At"] if Decision(entry["Decision"]) in _GO_ON else None
    if restarted is not None:
        yield Span(began=restarted, ended=ended, text="restarted")
