"""What the history of a job says of its attempts so far, for a supervisor that takes the job up. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from smlocal.contract.outcome.statuses import StopCause
from smlocal.job.control.requests import INTERRUPT, STOP
from smlocal.job.control.stop_signals import SIGNAL
from smlocal.job.decide.attempt_outcome import Story
from smlocal.job.decide.faults import FAULT
from smlocal.quick_dataclass import dataclass
from smlocal.store.records import Event


@dataclass(kw_only=True, slots=True)
class Past:
    """The job's attempts, and what was asked of and done to the last one."""

    heard: int = 0
    """How many events this is taken from."""
    number: int = 1
    """Of the last attempt."""
    retries: int = 0
    interruptions: int = 0
    faults: list[int] = field(default_factory=list)
    """The staged faults that struck, by their index."""
    logged: dict[str, int] = field(default_factory=dict)
    """How many bytes of each host's log are of earlier attempts."""
    story: Story = field(default_factory=Story)
    """A stop or an interruption of the last attempt."""
    grace: float | None = None
    """Of that stop."""
    interruption_asked: bool = False
    """True when an interruption was asked for and nobody has begun it."""
    terminated: dict[str, float] = field(default_factory=dict)
    """Hosts of the last attempt that were sent SIGTERM, and when, by the wall clock."""
    killed: set[str] = field(default_factory=set)
    """Those that were sent SIGKILL."""


def read_past(events: Iterable[Event]) -> Past:
    """Read the whole history."""
    past = Past()
    for event in events:
        past.heard += 1
        _take_in(past, event, event.data if isinstance(event.data, dict) else {})
    return past


def _take_in(past: Past, event: Event, data: Mapping[str, Any]) -> None:
    if event.kind == "restart":
        past.number = int(data["Number"])
        past.retries += data["Why"] == "retry"
        past.interruptions += data["Why"] == "interruption"
        past.logged.update(data.get("Logged", {}))
        past.story, past.interruption_asked = Story(), False
        past.terminated, past.killed = {}, set()
    elif event.kind == FAULT:
        past.faults.append(int(data["Index"]))
    elif event.kind == STOP:
        past.story, past.grace = Story(stopped=StopCause(data["Cause"])), data.get("Grace", past.grace)
    elif event.kind == INTERRUPT:
        past.interruption_asked = True
    elif event.kind == "interruption":
        past.interruption_asked = False
        if past.story.stopped is None:
            past.story = Story(interrupted=True)
    elif event.kind == SIGNAL and data.get("Error") is None:
        if data["Signal"] == "SIGTERM":
            past.terminated[data["Host"]] = event.at
        else:
            past.killed.add(data["Host"])
