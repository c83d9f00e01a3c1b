"""How far a job is: everything that a later supervisor has to know in order to decide as this one would have."""

from collections.abc import Mapping
from dataclasses import field, fields
from enum import StrEnum
from typing import Any

from smlocal.ai_platform.lifecycle.messages import OTHER_REGION_OR_ACCELERATOR
from smlocal.ai_platform.lifecycle.states import ErrorClass, JobState
from smlocal.base.quick_dataclass import dataclass


class End(StrEnum):
    """How an attempt ends."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    MOVED = "moved"
    """A machine is maintained, and the whole job starts again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AttemptVerdict:
    """How an attempt ends, and why."""

    end: End
    error: ErrorClass | None = None
    message: str = ""
    """The service's, for a job that ends with this."""
    replica: str | None = None
    """The one that decided."""
    exit_code: int | None = None
    why: str | None = None
    """Details that smlocal knows beyond the service's message."""


@dataclass(kw_only=True, slots=True)
class JobProgress:
    """All that changes while a job lives. Times are seconds of a clock that goes on in later supervisors."""

    created: float
    state: JobState = JobState.QUEUED
    attempt: int = 0
    retries: int = 0
    """Attempts that followed an error. Those that followed maintenance are not among them."""
    numbers: dict[str, int] = field(default_factory=dict)
    """The number of the newest container of each replica."""
    restarts: dict[str, int] = field(default_factory=dict)
    """How often each replica has been restarted in this attempt because it failed."""
    running: set[str] = field(default_factory=set)
    """Replicas whose end is waited for; some may just be starting."""
    starting: set[str] = field(default_factory=set)
    """Those in `running` whose newest container has not started."""
    moving: set[str] = field(default_factory=set)
    """Those in `running` that continue on another machine."""
    available: set[str] = field(default_factory=set)
    """Those that have started in this attempt."""
    ran_at: float | None = None
    """When the job was RUNNING for the first time."""
    verdict: AttemptVerdict | None = None
    signalled: set[str] = field(default_factory=set)
    killed: set[str] = field(default_factory=set)
    kill_at: dict[str, float] = field(default_factory=dict)
    """When those that got SIGTERM get SIGKILL."""
    lost_at: dict[str, float] = field(default_factory=dict)
    """When those that got SIGKILL must have ended."""
    ended_at: float | None = None

    def stored(self) -> dict[str, Any]:
        """As JSON can hold it."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values |= {name: sorted(value) for name, value in values.items() if isinstance(value, set)}
        if self.verdict is not None:
            values["verdict"] = {each.name: getattr(self.verdict, each.name) for each in fields(self.verdict)}
        return values


def read_progress(stored: Mapping[str, Any]) -> JobProgress:
    """The reverse of `JobProgress.stored`."""
    values = dict(stored)
    values["state"] = JobState(values["state"])
    for name in ("running", "starting", "moving", "available", "signalled", "killed"):
        values[name] = set(values[name])
    if values["verdict"] is not None:
        verdict = dict(values["verdict"])
        verdict["end"] = End(verdict["end"])
        verdict["error"] = verdict["error"] and ErrorClass(verdict["error"])
        values["verdict"] = AttemptVerdict(**verdict)
    return JobProgress(**values)


SEVEN_DAYS = 604_800.0
GRACE = 30.0
"""Seconds between SIGTERM and SIGKILL, as Kubernetes has them. The service does not say how many it gives."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicaProgress:
    """One machine of a job."""

    name: str
    """As the service's messages have it: `master 0`, `workerpool0-0`."""
    primary: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """The limits and choices of one job. Times are in seconds."""

    region: str
    max_running: float | None = SEVEN_DAYS
    """From the moment at which all replicas are available for the first time."""
    max_wait: float | None = None
    """Until that moment."""
    restart_job_on_worker_restart: bool = False
    disable_retries: bool = False
    """Internal errors of a job that was RUNNING end it."""
    grace: float = GRACE
    """Between SIGTERM and SIGKILL."""
    kill_timeout: float = 60.0
    """A container that has not ended so long after SIGKILL counts as lost."""
    stock_out_advice: str = OTHER_REGION_OR_ACCELERATOR

    @property
    def restarts_job(self) -> bool:
        """True if the whole job starts again when one replica has to."""
        return self.restart_job_on_worker_restart and not self.disable_retries
