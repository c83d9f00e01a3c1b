"""What a running job does when something happens: a pure state machine over events and time."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import assert_never

from smlocal.contract import failure
from smlocal.contract.statuses import StopCause
from smlocal.job.events import (
    Event,
    FeedBroken,
    HostExited,
    HostLost,
    Interrupted,
    KillAsked,
    PlatformFailed,
    StopAsked,
)
from smlocal.job.outcome import HostEnd, Story
from smlocal.plan.model import StopPlan
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordStop:
    """Write down that the job is being stopped, before any signal is sent."""

    cause: StopCause
    grace: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordInterruption:
    """Write down that the instances are taken away, before any signal is sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Terminate:
    """Send SIGTERM to PID 1 of these hosts."""

    hosts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kill:
    """Send SIGKILL to these hosts."""

    hosts: tuple[str, ...]


Action = RecordStop | RecordInterruption | Terminate | Kill


@dataclass(kw_only=True, slots=True)
class Watch:
    """The hosts that still run, what has been decided about the job, and the clocks that go."""

    running: set[str]
    limits: StopPlan
    deadlines: Mapping[StopCause, float]
    """When MaxRuntimeInSeconds and MaxWaitTimeInSeconds are over."""
    story: Story
    lost: str | None = None
    """Why the engine no longer answers, where it does not."""
    explanation: str | None = None
    """Of a failure that no host caused."""
    grace: float = 0.0
    """Of the SIGTERM that was sent."""
    kill_at: float | None = None
    impatient: bool = False
    """True when somebody did not want to wait for the grace."""
    signalled: set[str] = field(default_factory=set)
    killed: set[str] = field(default_factory=set)

    @property
    def wake_at(self) -> float | None:
        """When something is due although nothing happens."""
        clocks = [] if self.kill_at is None else [self.kill_at]
        if self._open:
            clocks += self.deadlines.values()
        return min(clocks, default=None)

    @property
    def _open(self) -> bool:
        """True while a stop can still change how the job ends."""
        return not self.story.decided and self.lost is None

    def hear(self, event: Event, now: float) -> list[Action]:
        """Take in what happened and say what to do about it."""
        match event:
            case HostExited():
                return self._exited(event, now)
            case HostLost(host=host, why=why):
                self.running.discard(host)
                self.lost = self.lost or why
                return self._terminate(self.limits.peer_grace, now)
            case StopAsked(cause=cause, grace=grace):
                return self._stop(cause, grace, now)
            case KillAsked():
                self.impatient = True
                return self._kill()
            case Interrupted():
                return self._interrupt(now)
            case PlatformFailed() | FeedBroken():
                return self._break(event, now)
            case _:
                assert_never(event)

    def give_up(self, now: float) -> list[Action]:
        """Some host could not be started: those that were have nothing to wait for."""
        return self._terminate(self.limits.peer_grace, now)

    def terminate_rest(self) -> list[Action]:
        """Signal those that an earlier supervisor did not come to signal."""
        hosts = tuple(sorted(self.running - self.signalled))
        self.signalled.update(hosts)
        return [Terminate(hosts=hosts)] if hosts else []

    def tick(self, now: float) -> list[Action]:
        """Do what is due by the clock."""
        if self.kill_at is not None and now >= self.kill_at:
            return self._kill()
        if self._open and self.running:
            for cause, deadline in sorted(self.deadlines.items(), key=lambda item: item[1]):
                if now >= deadline:
                    return self._stop(cause, None, now)
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
        if event.exit_code == 0 or self.story.interrupted or not self._open:
            return []
        self.story = replace(self.story, first_failure=event.host)
        return self._terminate(self.limits.peer_grace, now)

    def _stop(self, cause: StopCause, grace: float | None, now: float) -> list[Action]:
        if not self._open:
            # Decided already: who asks again can only make it end sooner.
            if grace is not None and self.kill_at is not None:
                self.kill_at = min(self.kill_at, now + grace)
                self.impatient = True
            return []
        self.story = replace(self.story, stopped=cause)
        given = self.limits.grace if grace is None else grace
        return [RecordStop(cause=cause, grace=given), *self._terminate(given, now)]

    def _interrupt(self, now: float) -> list[Action]:
        if self.story.interrupted or not self._open:
            return []
        self.story = replace(self.story, interrupted=True)
        return [RecordInterruption(), *self._terminate(self.limits.grace, now)]

    def _break(self, event: PlatformFailed | FeedBroken, now: float) -> list[Action]:
        """An instance that breaks takes its container along; one without data has nothing true to read any more."""
        if not self._open:
            return []
        if isinstance(event, PlatformFailed):
            self.story = replace(self.story, failure_reason=failure.INTERNAL_ERROR)
            return self._kill()
        self.story = replace(self.story, failure_reason=event.reason)
        self.explanation = event.explanation
        return self._terminate(self.limits.peer_grace, now)

    def _terminate(self, grace: float, now: float) -> list[Action]:
        """SIGTERM to all that have not had it; a later, shorter grace brings SIGKILL forward."""
        if not self.running:
            return []
        deadline = now + grace
        self.grace = grace
        if not self.killed:
            self.kill_at = deadline if self.kill_at is None else min(self.kill_at, deadline)
        hosts = tuple(sorted(self.running - self.signalled))
        self.signalled.update(hosts)
        return [Terminate(hosts=hosts)] if hosts else []

    def _kill(self) -> list[Action]:
        hosts = tuple(sorted(self.running - self.killed))
        self.kill_at = None
        self.signalled.update(hosts)
        self.killed.update(hosts)
        return [Kill(hosts=hosts)] if hosts else []
