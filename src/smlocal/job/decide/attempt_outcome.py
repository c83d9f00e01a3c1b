"""From what the hosts did to how the job ends. Pure."""

from smlocal.contract.outcome import failure_reason
from smlocal.contract.outcome.statuses import COMPLETED, FAILED, STOPPED, Ending, StopCause
from smlocal.quick_dataclass import dataclass

KILLED = 137
"""The exit code of a PID 1 that got SIGKILL, for whatever reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostEnd:
    """How one host ended."""

    host: str
    exit_code: int
    oom_killed: bool = False
    signalled: bool = False
    """True if smlocal sent it a signal before it ended."""
    killed: bool = False
    """True if smlocal sent it SIGKILL."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AttemptOutcome:
    """Everything that decides how an attempt ended."""

    ends: tuple[HostEnd, ...] = ()
    """In the order in which the hosts ended."""
    first_failure: str | None = None
    """The host with the first non-zero exit code before any stop."""
    stopped: StopCause | None = None
    interrupted: bool = False
    """True after a spot interruption: exit codes then do not matter."""
    start_error: str | None = None
    """The runtime's message when PID 1 could not be started."""
    failure_reason: str | None = None
    """A reason that counts whatever the hosts did: data, disk, pull, engine."""

    @property
    def decided(self) -> bool:
        """True if nothing that a container does can change how the job ends."""
        return any(
            fact is not None for fact in (self.first_failure, self.stopped, self.start_error, self.failure_reason)
        )

    @property
    def failed(self) -> bool:
        """True if the job will end as Failed."""
        return self.decided and (self.stopped is None or self.failure_reason is not None)


def ending(outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:
    """The status a job ends with, and its FailureReason. A recorded stop is never turned into a host's failure."""
    if outcome.failure_reason is not None:
        return FAILED, outcome.failure_reason
    if outcome.start_error is not None:
        return FAILED, failure_reason.cannot_start(outcome.start_error)
    if outcome.first_failure is not None:
        end = next(end for end in outcome.ends if end.host == outcome.first_failure)
        if end.oom_killed and end.exit_code == KILLED:
            return FAILED, failure_reason.OUT_OF_MEMORY
        return FAILED, failure_reason.algorithm_error(failure_file, end.exit_code)
    if outcome.stopped is not None:
        return STOPPED[outcome.stopped], None
    return COMPLETED, None
