"""How a job ended, on the service or here: what two runs of one job are compared by."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from smlocal.quick_dataclass import dataclass
from smlocal.remote.normalised_reason import exit_code_in

ENDED = ("Completed", "Failed", "Stopped")
LINES = 20
"""Of the end of each log."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Phase:
    """One element of the status history."""

    status: str
    seconds: float | None
    """None if it has no end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogEnd:
    """The last lines of a job's log."""

    lines: Mapping[str, Sequence[str]]
    """By host. A log whose hosts are not known, such as a text file, is of the host ""."""
    missing: str | None = None
    """Why there are none, as a sentence."""
    last: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By host: the lines of which any may be the last one, where their order is not known."""
    unsure: str | None = None
    """Why the last line here need not be the last one that was written."""

    def of(self, host: str) -> Sequence[str]:
        """The lines of a host, or of the first one if it has none."""
        return self.lines.get(host) or next(iter(self.lines.values()), ())


NO_LOG = LogEnd(lines={}, missing="no log was asked for")


@dataclass(frozen=True, kw_only=True, slots=True)
class JobEnd:
    """How a job ended."""

    name: str
    status: str
    secondary: str
    reason: str | None
    """FailureReason."""
    exit_code: int | None
    """Of the host that decided; None if it is not known or no container ran."""
    host: str
    """The host whose log says most: the one that failed first, else the first one."""
    phases: Sequence[Phase]
    metrics: Mapping[str, float]
    """The final values."""
    log: LogEnd

    @property
    def ended(self) -> bool:
        """Whether the job has ended at all."""
        return self.status in ENDED


def end_of(answer: Mapping[str, Any], log: LogEnd = NO_LOG) -> JobEnd:
    """The end that a describe answer tells: the service's, or one of ours, whose `Local` block knows more."""
    local = answer.get("Local") or {}
    status, reason = str(answer.get("TrainingJobStatus", "")), answer.get("FailureReason") or None
    return JobEnd(
        name=str(answer.get("TrainingJobName", "")),
        status=status,
        secondary=str(answer.get("SecondaryStatus", status)),
        reason=reason,
        exit_code=_exit_code(status, reason, local),
        host=local.get("FailedHost") or "algo-1",
        phases=[_phase(each) for each in answer.get("SecondaryStatusTransitions") or ()],
        metrics={each["MetricName"]: float(each["Value"]) for each in answer.get("FinalMetricDataList") or ()},
        log=log,
    )


def log_of_answer(answer: Mapping[str, Any]) -> LogEnd:
    """The last lines of a job of this machine, from the files that its answer names."""
    from smlocal.job.logs.log_readers import read_log_tail

    lines = {}
    for host in (answer.get("Local") or {}).get("Hosts") or ():
        tail = read_log_tail(host["Name"], host["Log"]) if host.get("Log") else None
        if tail is not None:
            lines[tail.host] = tail.lines[-LINES:]
    if lines:
        return LogEnd(lines=lines)
    return LogEnd(lines={}, missing="no container has written a log")


def seconds_since_epoch(when: object) -> float | None:
    """A time of an answer: a number, what boto3 makes of it, or the text that it was saved as."""
    if isinstance(when, bool):
        return None
    if isinstance(when, int | float):
        return float(when)
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            return None
    return when.timestamp() if isinstance(when, datetime) else None


def _phase(transition: Mapping[str, Any]) -> Phase:
    started, ended = (seconds_since_epoch(transition.get(name)) for name in ("StartTime", "EndTime"))
    return Phase(
        status=str(transition.get("Status", "")),
        seconds=None if started is None or ended is None else max(0.0, ended - started),
    )


def _exit_code(status: str, reason: str | None, local: Mapping[str, Any]) -> int | None:
    codes: dict[str, int | None] = {host["Name"]: host["ExitCode"] for host in local.get("Hosts") or ()}
    if local.get("FailedHost") in codes:
        return codes[local["FailedHost"]]
    if codes:
        return next((code for code in codes.values() if code), next(iter(codes.values())))
    if reason is not None:
        return exit_code_in(reason)
    return 0 if status == "Completed" else None
