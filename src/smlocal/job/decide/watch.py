"""What a running job does when something happens: a pure state machine over events and time."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import assert_never

from smlocal.contract.outcome import failure_reason
from smlocal.contract.outcome.statuses import StopCause
from smlocal.job.decide.attempt_outcome import HostEnd, Story
from smlocal.job.decide.events import (
    Event,
    FeedBroken,
    HostExited,
    HostLost,
    Interrupted,
    KillAsked,
    PlatformFailed,
    StopAsked,
    ThreadDied,
)
from smlocal.planning.model import StopPlan
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
    end_within: float = 60.0
    """Seconds that a container has to end after SIGKILL; then nobody waits for it any more."""
    lost: str | None = None
    """Why the engine no longer answers for a container, where it does not."""
    explanation: str | None = None
    """Of a failure that no host caused."""
    grace: float = 0.0
    """Of the SIGTERM that was sent."""
    kill_at: float | None = None
    give_up_at: float | None = None
    """When those that were killed must have ended."""
    impatient: bool = False
    """True when somebody did not want to wait for the grace."""
    signalled: set[str] = field(default_factory=set)
    killed: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    """Of those that still run: whose container has ended, while somebody still reads what it wrote."""

    @property
    def wake_at(self) -> float | None:
        """When something is due although nothing happens."""
        clocks = [at for at in (self.kill_at, self.give_up_at) if at is not None]
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
                self.lost = self.lost or why
                return self._abandon(host, now)
            case StopAsked(cause=cause, grace=grace):
                return self._stop(cause, grace, now)
            case KillAsked():
                self.impatient = True
                return self._kill(now)
            case Interrupted():
                return self._interrupt(now)
            case PlatformFailed() | FeedBroken() | ThreadDied():
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
            return self._kill(now)
        if self.give_up_at is not None and now >= self.give_up_at:
            self.give_up_at = None
            late = sorted((self.running & self.killed) - self.ended)
            if late:
                self.lost = self.lost or f"{', '.join(late)} did not end within {self.end_within:g} s of SIGKILL"
            self.running.difference_update(late)
            return []
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

    def _break(self, event: PlatformFailed | FeedBroken | ThreadDied, now: float) -> list[Action]:
        """An instance that breaks takes its container along; one without data has nothing true to read any more."""
        if isinstance(event, ThreadDied):
            return self._thread_died(event, now)
        if not self._open:
            return []
        if isinstance(event, PlatformFailed):
            self.story = replace(self.story, failure_reason=failure_reason.INTERNAL_ERROR)
            return self._kill(now)
        self.story = replace(self.story, failure_reason=event.reason)
        self.explanation = event.explanation
        return self._terminate(self.limits.peer_grace, now)

    def _thread_died(self, event: ThreadDied, now: float) -> list[Action]:
        """Whatever ends a thread of ours ends the job."""
        was_open = self._open
        if was_open:
            self.story = replace(self.story, failure_reason=failure_reason.INTERNAL_ERROR)
            self.explanation = event.why
        if event.host is not None:
            return self._abandon(event.host, now)
        return self._terminate(self.limits.peer_grace, now) if was_open else []

    def _abandon(self, host: str, now: float) -> list[Action]:
        """Nobody waits for this host any more: it must not run on, and its peers are stopped."""
        self.running.discard(host)
        self.signalled.add(host)
        self.killed.add(host)
        return [Kill(hosts=(host,)), *self._terminate(self.limits.peer_grace, now)]

    def _terminate(self, grace: float, now: float) -> list[Action]:
        """SIGTERM to all that have not had it; a later, shorter grace brings SIGKILL forward."""
        if not self.running:
            return []
        deadline = now + grace
        self.grace = grace
        if not self.running <= self.killed:
            self.kill_at = deadline if self.kill_at is None else min(self.kill_at, deadline)
        hosts = tuple(sorted(self.running - self.signalled))
        self.signalled.update(hosts)
        return [Terminate(hosts=hosts)] if hosts else []

    def _kill(self, now: float) -> list[Action]:
        hosts = tuple(sorted(self.running - self.killed))
        self.kill_at = None
        if hosts:
            self.give_up_at = now + self.end_within
        self.signalled.update(hosts)
        self.killed.update(hosts)
        return [Kill(hosts=hosts)] if hosts else []
