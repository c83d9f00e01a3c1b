"""The reactions of a running job to each event: a state machine over events and time. Pure."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import assert_never

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.decide.attempt_outcome import AttemptOutcome, HostEnd
from smlocal.jobs.decide.events import (
    ContainerExited,
    ContainerLost,
    Event,
    FeedFailed,
    Interrupted,
    KillAsked,
    MachineMoves,
    PlatformFailed,
    StopAsked,
    ThreadDied,
)
from smlocal.jobs.planning.workload import StopPlan
from smlocal.terms.statuses import INTERNAL_ERROR, StopCause


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordStop:
    """Record that the job is being stopped, before any signal is sent."""

    cause: StopCause
    grace: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordInterruption:
    """Record a spot interruption, before any signal is sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TerminateHosts:
    """Send SIGTERM to PID 1 of these hosts."""

    hosts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class KillHosts:
    """Send SIGKILL to these hosts."""

    hosts: tuple[str, ...]


Action = RecordStop | RecordInterruption | TerminateHosts | KillHosts


@dataclass(kw_only=True, slots=True)
class Watch:
    """The running hosts, the decisions about the job, and its clocks."""

    running: set[str]
    stop: StopPlan
    deadlines: Mapping[StopCause, float]
    """When the time limits of the job run out."""
    outcome: AttemptOutcome
    kill_timeout: float = 60.0
    """Seconds that a container has to end after SIGKILL. Then it counts as lost."""
    lost: str | None = None
    """Why the engine no longer answers for a container, if it does not."""
    refused: bool = False
    """True if it is there, and a place does not let it answer."""
    explanation: str | None = None
    """For a failure that no host caused."""
    grace: float = 0.0
    """After the SIGTERM that was sent."""
    kill_at: float | None = None
    lost_at: float | None = None
    """When the hosts that were killed must have ended."""
    killed_early: bool = False
    """True if the grace period was cut short by a second request."""
    signalled: set[str] = field(default_factory=set)
    killed: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    """Those in `running` whose container has ended, while its output is still being read."""

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do."""
        clocks = [at for at in (self.kill_at, self.lost_at) if at is not None]
        if self._undecided:
            clocks += self.deadlines.values()
        return min(clocks, default=None)

    @property
    def _undecided(self) -> bool:
        """True while a stop can change how the job ends."""
        return not self.outcome.decided and self.lost is None

    def handle(self, event: Event, now: float) -> list[Action]:  # noqa: PLR0911 - one for each kind of event
        """Decide about an event."""
        match event:
            case ContainerExited():
                return self._exited(event, now)
            case ContainerLost(container=host, why=why, refused=refused):
                self.lost, self.refused = self.lost or why, self.refused or refused
                return self._abandon(host, now)
            case StopAsked(cause=cause, grace=grace):
                return self._stop(cause, grace, now)
            case KillAsked():
                self.killed_early = True
                return self._kill(now)
            case Interrupted():
                return self._interrupt(now)
            case MachineMoves():
                return []  # no job of this state machine has such a fault
            case PlatformFailed() | FeedFailed() | ThreadDied():
                return self._fail(event, now)
            case _:
                assert_never(event)

    def stop_started(self, now: float) -> list[Action]:
        """Stop the hosts that were started, because another could not be."""
        return self._terminate(self.stop.peer_grace, now)

    def terminate_rest(self) -> list[Action]:
        """Send SIGTERM to the hosts that an earlier supervisor did not signal."""
        hosts = tuple(sorted(self.running - self.signalled))
        self.signalled.update(hosts)
        return [TerminateHosts(hosts=hosts)] if hosts else []

    def tick(self, now: float) -> list[Action]:
        """Decide by the clock."""
        if self.kill_at is not None and now >= self.kill_at:
            return self._kill(now)
        if self.lost_at is not None and now >= self.lost_at:
            self.lost_at = None
            overdue = sorted((self.running & self.killed) - self.ended)
            if overdue:
                self.lost = self.lost or f"{', '.join(overdue)} did not end within {self.kill_timeout:g} s of SIGKILL"
            self.running.difference_update(overdue)
            return []
        if self._undecided and self.running:
            for cause, deadline in sorted(self.deadlines.items(), key=lambda item: item[1]):
                if now >= deadline:
                    return self._stop(cause, None, now)
        return []

    def _exited(self, event: ContainerExited, now: float) -> list[Action]:
        self.running.discard(event.container)
        end = HostEnd(
            host=event.container,
            exit_code=event.exit_code,
            oom_killed=event.oom_killed,
            signalled=event.container in self.signalled,
            killed=event.container in self.killed,
        )
        self.outcome = replace(self.outcome, ends=(*self.outcome.ends, end))
        if event.exit_code == 0 or self.outcome.interrupted or not self._undecided:
            return []
        self.outcome = replace(self.outcome, first_failure=event.container)
        return self._terminate(self.stop.peer_grace, now)

    def _stop(self, cause: StopCause, grace: float | None, now: float) -> list[Action]:
        if not self._undecided:
            # The outcome is decided. Another request can only make it end sooner.
            if grace is not None and self.kill_at is not None:
                self.kill_at = min(self.kill_at, now + grace)
                self.killed_early = True
            return []
        self.outcome = replace(self.outcome, stopped=cause)
        given = self.stop.grace if grace is None else grace
        return [RecordStop(cause=cause, grace=given), *self._terminate(given, now)]

    def _interrupt(self, now: float) -> list[Action]:
        if self.outcome.interrupted or not self._undecided:
            return []
        self.outcome = replace(self.outcome, interrupted=True)
        return [RecordInterruption(), *self._terminate(self.stop.grace, now)]

    def _fail(self, event: PlatformFailed | FeedFailed | ThreadDied, now: float) -> list[Action]:
        """A failing instance ends its container at once. A container without data is stopped."""
        if isinstance(event, ThreadDied):
            return self._thread_died(event, now)
        if not self._undecided:
            return []
        if isinstance(event, PlatformFailed):
            self.outcome = replace(self.outcome, failure=INTERNAL_ERROR)
            return self._kill(now)
        self.outcome = replace(self.outcome, failure=event.failure)
        self.explanation = event.explanation
        return self._terminate(self.stop.peer_grace, now)

    def _thread_died(self, event: ThreadDied, now: float) -> list[Action]:
        """A defect ends the job."""
        undecided = self._undecided
        if undecided:
            self.outcome = replace(self.outcome, failure=INTERNAL_ERROR)
            self.explanation = event.why
        if event.container is not None:
            return self._abandon(event.container, now)
        return self._terminate(self.stop.peer_grace, now) if undecided else []

    def _abandon(self, host: str, now: float) -> list[Action]:
        """Its end cannot be noticed any more: kill it, and stop its peers."""
        self.running.discard(host)
        self.signalled.add(host)
        self.killed.add(host)
        return [KillHosts(hosts=(host,)), *self._terminate(self.stop.peer_grace, now)]

    def _terminate(self, grace: float, now: float) -> list[Action]:
        """SIGTERM to all that have not had it. A shorter grace than before moves SIGKILL forward."""
        if not self.running:
            return []
        deadline = now + grace
        self.grace = grace
        if not self.running <= self.killed:
            self.kill_at = deadline if self.kill_at is None else min(self.kill_at, deadline)
        hosts = tuple(sorted(self.running - self.signalled))
        self.signalled.update(hosts)
        return [TerminateHosts(hosts=hosts)] if hosts else []

    def _kill(self, now: float) -> list[Action]:
        hosts = tuple(sorted(self.running - self.killed))
        self.kill_at = None
        if hosts:
            self.lost_at = now + self.kill_timeout
        self.signalled.update(hosts)
        self.killed.update(hosts)
        return [KillHosts(hosts=hosts)] if hosts else []
