"""From what the hosts did to how the job ended. Pure."""

from smlocal.contract.outcome import failure_reason
from smlocal.contract.outcome.statuses import COMPLETED, FAILED, STOPPED, Ending, StopCause
from smlocal.quick_dataclass import dataclass

KILLED = 137
"""The exit code of a first process that got SIGKILL; whether for want of memory, the engine says apart."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostEnd:
    """How one host ended."""

    host: str
    exit_code: int
    oom_killed: bool = False
    signalled: bool = False
    """True when it was sent a signal before it ended."""
    killed: bool = False
    """True when SIGTERM was not enough."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Story:
    """Everything that decides how a job ended."""

    ends: tuple[HostEnd, ...] = ()
    """In the order in which the hosts ended."""
    first_failure: str | None = None
    """The host whose non-zero exit came first, before anybody asked for a stop."""
    stopped: StopCause | None = None
    interrupted: bool = False
    """True when the spot instances were taken away: exit codes then do not matter."""
    start_error: str | None = None
    """The runtime's own words when a first process could not be started."""
    failure_reason: str | None = None
    """A reason that stands whatever the hosts did: data, disk, pull, engine."""

    @property
    def decided(self) -> bool:
        """True once nothing that a container still does can change how the job ends."""
        return any(
            fact is not None for fact in (self.first_failure, self.stopped, self.start_error, self.failure_reason)
        )

    @property
    def failed(self) -> bool:
        """True when the job will end as Failed."""
        return self.decided and (self.stopped is None or self.failure_reason is not None)


def ending(story: Story, failure_file: bytes) -> tuple[Ending, str | None]:
    """The status a job ends with, and its FailureReason.

    A recorded stop wins over everything that comes after it, so no race turns it into a failure.
    """
    if story.failure_reason is not None:
        return FAILED, story.failure_reason
    if story.start_error is not None:
        return FAILED, failure_reason.cannot_start(story.start_error)
    if story.first_failure is not None:
        end = next(end for end in story.ends if end.host == story.first_failure)
        if end.oom_killed and end.exit_code == KILLED:
            return FAILED, failure_reason.OUT_OF_MEMORY
        return FAILED, failure_reason.algorithm_error(failure_file, end.exit_code)
    if story.stopped is not None:
        return STOPPED[story.stopped], None
    return COMPLETED, None
