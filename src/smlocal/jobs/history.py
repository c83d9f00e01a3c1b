"""A job's history in the store: the kinds of its events, and the course of its attempts so far. Pure.

From it a later supervisor can go on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.decide.attempt_outcome import AttemptOutcome
from smlocal.jobs.store.records import StoredEvent
from smlocal.terms.statuses import StopCause

STOP = "stop"
"""A stop, requested or decided: cause and grace period."""
INTERRUPT = "interrupt"
"""A requested spot interruption."""
INTERRUPTION = "interruption"
"""A spot interruption, before the first signal is sent."""
SIGNAL = "signal"
"""A signal that was sent to a host."""
RESTART = "restart"
"""A new attempt, and why."""
FAULT = "fault"
"""A simulated fault (`Local.Faults`) that has happened, by its index."""
CREDENTIALS = "credentials"
"""The address and the token with which containers request credentials."""
DEFECT = "defect"
"""The traceback of an exception in a thread of smlocal."""
RULE_ACTION = "rule-action"
"""An action of a debugger rule: a job that was stopped, or a message to somebody, which is not sent."""
BEGINNING = "beginning"
"""A process has begun to prepare a submitted job."""


@dataclass(kw_only=True, slots=True)
class Past:
    """The job's attempts, and the requests and signals to the last one."""

    events_read: int = 0
    retries: int = 0
    interruptions: int = 0
    faults: list[int] = field(default_factory=list)
    """The simulated faults that have happened, by index."""
    logged: dict[str, int] = field(default_factory=dict)
    """Bytes of each host's log from earlier attempts."""
    outcome: AttemptOutcome = field(default_factory=AttemptOutcome)
    """A stop or an interruption of the last attempt."""
    grace: float | None = None
    """The grace period of that stop."""
    interruption_asked: bool = False
    """True if an interruption was requested and has not begun."""
    terminated: dict[str, float] = field(default_factory=dict)
    """Hosts of the last attempt that got SIGTERM, and when, by the wall clock."""
    killed: set[str] = field(default_factory=set)
    """Hosts of the last attempt that got SIGKILL."""


def read_past(events: Iterable[StoredEvent]) -> Past:
    """Read the whole history."""
    past = Past()
    for event in events:
        past.events_read += 1
        _add(past, event, event.data if isinstance(event.data, dict) else {})
    return past


def _add(past: Past, event: StoredEvent, data: Mapping[str, Any]) -> None:
    if event.kind == RESTART:
        past.retries += data["Why"] == "retry"
        past.interruptions += data["Why"] == "interruption"
        past.logged.update(data.get("Logged", {}))
        past.outcome, past.interruption_asked = AttemptOutcome(), False
        past.terminated, past.killed = {}, set()
    elif event.kind == FAULT:
        past.faults.append(int(data["Index"]))
    elif event.kind == STOP:
        past.outcome = AttemptOutcome(stopped=StopCause(data["Cause"]))
        past.grace = data.get("Grace", past.grace)
    elif event.kind == INTERRUPT:
        past.interruption_asked = True
    elif event.kind == INTERRUPTION:
        past.interruption_asked = False
        if past.outcome.stopped is None:
            past.outcome = AttemptOutcome(interrupted=True)
    elif event.kind == SIGNAL and data.get("Error") is None:
        if data["Signal"] == "SIGTERM":
            past.terminated[data["Host"]] = event.at
        else:
            past.killed.add(data["Host"])
