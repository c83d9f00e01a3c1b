"""What a running job does when something happens: a pure state machine over events and time."""

from dataclasses import dataclass, field, replace

from smlocal.contract.statuses import StopCause
from smlocal.job.events import Event, HostExited, HostLost, StopAsked
from smlocal.job.outcome import HostEnd, Story
from smlocal.plan.model import StopPlan


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordStop:
    """Write down that the job is being stopped, before any signal is sent."""

    cause: StopCause


@dataclass(frozen=True, kw_only=True, slots=True)
class Terminate:
    """Send SIGTERM to PID 1 of these hosts."""

    hosts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kill:
    """Send SIGKILL to these hosts."""

    hosts: tuple[str, ...]


Action = RecordStop | Terminate | Kill


@dataclass(kw_only=True, slots=True)
class Watch:
    """The hosts that still run, what has been decided about the job, and the clocks that go."""

    running: set[str]
    limits: StopPlan
    deadline: float
    """When MaxRuntimeInSeconds is over."""
    story: Story
    lost: str | None = None
    """Why the engine no longer answers, where it does not."""
    grace: float = 0.0
    """Of the SIGTERM that was sent."""
    kill_at: float | None = None
    signalled: set[str] = field(default_factory=set)
    killed: set[str] = field(default_factory=set)

    @property
    def wake_at(self) -> float | None:
        """When something is due although nothing happens."""
        if self.kill_at is not None:
            return self.kill_at
        return None if self.story.decided else self.deadline

    def hear(self, event: Event, now: float) -> list[Action]:
        """Take in what happened and say what to do about it."""
        match event:
            case HostExited():
                return self._exited(event, now)
            case HostLost(host=host, why=why):
                self.running.discard(host)
                self.lost = self.lost or why
                return self._terminate(self.limits.peer_grace, now)
            case StopAsked(cause=cause):
                return self._kill() if self.story.decided or self.lost else self._stop(cause, now)

    def give_up(self, now: float) -> list[Action]:
        """Some host could not be started: those that were have nothing to wait for."""
        return self._terminate(self.limits.peer_grace, now)

    def tick(self, now: float) -> list[Action]:
        """Do what is due by the clock."""
        if self.kill_at is not None and now >= self.kill_at:
            return self._kill()
        if not self.story.decided and self.lost is None and now >= self.deadline:
            return self._stop(StopCause.MAX_RUNTIME, now)
        return []

    def _exited(self, event: HostExited, now: float) -> list[Action]:
        self.running.discard(event.host)
        end = HostEnd(
            host=event.host,
            exit_code=event.exit_code,
            oom_killed=event.oom_killed,
            signalled=event.host in self.signalled,
            killed=event.host in self.killed,
        )
        self.story = replace(self.story, ends=(*self.story.ends, end))
        if event.exit_code == 0 or self.story.decided or self.lost is not None:
            return []
        self.story = replace(self.story, first_failure=event.host)
        return self._terminate(self.limits.peer_grace, now)

    def _stop(self, cause: StopCause, now: float) -> list[Action]:
        self.story = replace(self.story, stopped=cause)
        return [RecordStop(cause=cause), *self._terminate(self.limits.grace, now)]

    def _terminate(self, grace: float, now: float) -> list[Action]:
        hosts = tuple(sorted(self.running - self.signalled))
        if not hosts:
            return []
        self.signalled.update(hosts)
        self.grace, self.kill_at = grace, now + grace
        return [Terminate(hosts=hosts)]

    def _kill(self) -> list[Action]:
        hosts = tuple(sorted(self.running - self.killed))
        self.kill_at = None
        self.signalled.update(hosts)
        self.killed.update(hosts)
        return [Kill(hosts=hosts)] if hosts else []
