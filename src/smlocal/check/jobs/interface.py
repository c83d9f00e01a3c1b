"""The jobs that a check may run, and the known facts about one that has ended.

Rules use jobs only through this file.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Protocol

from smlocal.base.quick_dataclass import dataclass

Request = dict[str, Any]
"""A CreateTrainingJob request with its `Local` block."""
ORDINARY_ENGINE = "check the image on a machine with an ordinary engine"
"""How to test what cannot be seen in a place that restricts its engine."""
_BY_MACHINE = ("InternalServerError", "ClientError: Data download failed:Insufficient disk space")
"""Reasons: the data of a check is so little that it would fit on the disk of any instance."""
_SHOWN = 200
_LAST_LINES = 5
_SIGTERM = 1 << 14
"""In a mask of signals."""


class Meanwhile(StrEnum):
    """The event that a job gets while it trains."""

    NOTHING = ""
    STOP = "stop"
    INTERRUPT = "interrupt"


@dataclass(frozen=True, kw_only=True, slots=True)
class Folders:
    """Where a scenario may put data of its own."""

    data: str
    """A folder that is there, for nothing but this scenario."""
    first_files: Mapping[str, str]
    """The name of the first file of each channel."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """One job that a check runs: the plain job, changed in one respect."""

    id: str
    """Unique in a check. The job has it in its name."""
    change: Callable[[Request, Folders], None] = lambda _request, _folders: None
    meanwhile: Meanwhile = Meanwhile.NOTHING
    broken: bool = False
    """True if something is missing or wrong, so that the job should fail."""


def _list_changes(request: Request, _folders: Folders) -> None:
    request["Local"]["ListChanges"] = True


PLAIN = Scenario(id="plain", change=_list_changes)
"""The job as it is described, on little data. All other jobs are compared with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """One process of a container."""

    name: str
    handles_sigterm: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class StopSeen:
    """The behavior of a job that got SIGTERM."""

    first: Process
    """PID 1."""
    others: tuple[Process, ...]
    seconds: float
    """From the signal to the end of the container."""
    too_early: bool = False
    """PID 1 got a handler only after the signal, which was lost."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedHost:
    """How one host ended."""

    name: str
    exit_code: int | None
    oom_killed: bool
    killed: bool
    """With SIGKILL, after its grace."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobResult:
    """A job that has ended."""

    job: str
    """Its name."""
    status: str
    secondary: str
    reason: str
    """The FailureReason; empty where there is none."""
    seconds: float
    """Seconds of training."""
    limit: int
    """Seconds after which it would have been stopped."""
    grace: int
    """Seconds between SIGTERM and SIGKILL."""
    hosts: tuple[CheckedHost, ...]
    model: bool
    """Whether it left one."""
    archive: str = ""
    """The model on this machine: an archive or a folder; empty if there is none."""
    log: str
    """The last lines of all hosts."""
    local: Mapping[str, Any] = field(repr=False)
    """The `Local` block of its describe answer."""
    stop: StopSeen | None = None
    checkpoints: int = 0
    """Files in the folder of checkpoints at the end."""
    checkpoints_before: int = 0
    """The same, when the job was interrupted."""

    @property
    def failure_files(self) -> Mapping[str, str]:
        """The failure files of hosts that exited with 0."""
        found: Mapping[str, str] = self.local.get("FailureFiles") or {}
        return found

    @property
    def completed(self) -> bool:
        """Whether every host ended with 0."""
        return self.status == "Completed"

    @property
    def by_machine(self) -> bool:
        """Whether this machine or its engine failed it, and not the image."""
        return self.reason.startswith(_BY_MACHINE)

    @property
    def timed_out(self) -> bool:
        """Whether it was stopped because it took too long."""
        return self.secondary == "MaxRuntimeExceeded"

    @property
    def explanation(self) -> str:
        """The image's text in the failure file, as far as the FailureReason shows it."""
        text = self.reason.removeprefix("AlgorithmError: ")
        return text.rpartition(", exit code: ")[0] if text != self.reason else ""

    @property
    def first_failed(self) -> str:
        """The name of a host that did not end with 0, if there are several hosts."""
        failed = [host.name for host in self.hosts if host.exit_code != 0 and not host.killed]
        return failed[0] if failed and len(self.hosts) > 1 else ""

    @property
    def ended_as(self) -> str:
        """Its status, or that it took too long."""
        return f"it did not end within {self.limit} s and was stopped" if self.timed_out else self.status

    @property
    def how(self) -> str:
        """How it ended, as a clause; without the lines of `reason_lines`, if it has any."""
        if not self.reason or self.timed_out:
            return self.ended_as
        line = " ".join(self.reason.split())
        if self.reason_lines:
            kind, _, rest = line.partition(": ")
            code = rest.rpartition(", exit code: ")[2] if self.explanation else ""
            line = f"{kind}: …{code and f', exit code: {code}'}"
        return f"{self.status}: {_short(line)}"

    @property
    def reason_lines(self) -> tuple[str, ...]:
        """The text of the image or the service about the failure, if that has several lines."""
        lines = [line.rstrip() for line in (self.explanation or self.reason).splitlines() if line.strip()]
        return tuple(map(_short, lines)) if len(lines) > 1 and not self.timed_out else ()

    @property
    def details(self) -> tuple[str, ...]:
        """Lines for who wants to know why it failed: the reason, its cause, hints, and the log if it has more."""
        ours = f"{self.first_failed} | " if self.first_failed else ""
        lines = [line for line in self.log.splitlines() if line.strip() and line.startswith(ours)][-_LAST_LINES:]
        said = {line.strip() for line in (self.explanation or self.reason).splitlines()}
        if said.issuperset(line.removeprefix(ours).strip() for line in lines):
            lines = []
        cause = self.local.get("Explanation")
        return (
            *self.reason_lines,
            *([f"because: {cause}"] if cause else []),
            *(f"hint: {hint}" for hint in self.local.get("Hints") or ()),
            *(["last lines of the log:"] if lines else []),
            *(f"  {_short(line)}" for line in lines),
        )


class Jobs(Protocol):
    """Runs jobs of one image."""

    @property
    def guessed(self) -> bool:
        """True if it is not known which data and hyperparameters the image needs."""
        ...

    @property
    def request(self) -> Request:
        """The request of the plain job. Raises `CannotLookError` where no job can be run."""
        ...

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels of the plain job."""
        ...

    @property
    def memory(self) -> int:
        """Bytes that each host may use: of its instance type, or of `Local.Memory`; 0 if not known."""
        ...

    def result(self, scenario: Scenario) -> JobResult:
        """Wait for the end of a job; it is started if it has not been. Raises `CannotLookError`."""
        ...


def _short(line: str) -> str:
    return f"{line[:_SHOWN]}{'…' if len(line) > _SHOWN else ''}"


def handles_sigterm(caught: int) -> bool:
    """Whether SIGTERM is in the mask of the signals for which a process has a handler."""
    return bool(caught & _SIGTERM)
