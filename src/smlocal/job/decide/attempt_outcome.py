"""What the hosts of an attempt did."""

from smlocal.contract.failures import Failure
from smlocal.contract.statuses import StopCause
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
    failure: Failure | None = None
    """One that counts whatever the hosts did: data, disk, image, engine."""

    @property
    def decided(self) -> bool:
        """True if nothing that a container does can change how the job ends."""
        return any(fact is not None for fact in (self.first_failure, self.stopped, self.failure))

    @property
    def failed(self) -> bool:
        """True if the job will end as Failed."""
        return self.decided and (self.stopped is None or self.failure is not None)
