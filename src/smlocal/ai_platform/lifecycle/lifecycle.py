"""The lifecycle of one job: a state machine over events and time. Pure.

The caller begins an attempt, starts it unless something has ended it already, passes on events while replicas are
running, and then calls `after_attempt`, until the job is over. After each call that returns actions, it stores
`progress`, and only then does them.
"""

from collections.abc import Collection
from dataclasses import field
from typing import Any, assert_never

from smlocal.ai_platform.lifecycle import messages
from smlocal.ai_platform.lifecycle.actions import (
    Action,
    AttachError,
    Decision,
    EnterState,
    Happened,
    HistoryEntry,
    Kill,
    Record,
    Restart,
    Start,
    Terminate,
    end_entry,
)
from smlocal.ai_platform.lifecycle.events import (
    CancelAsked,
    CancelAskedAgain,
    CancelCause,
    Event,
    InternalError,
    MaintenanceBegun,
    ReplicaExited,
    ReplicaLost,
    ReplicaReady,
    StartRefused,
    StockOut,
)
from smlocal.ai_platform.lifecycle.progress import AttemptVerdict, End, JobProgress, ReplicaProgress, Rules
from smlocal.ai_platform.lifecycle.states import (
    CANCELLED,
    ERROR_CODES,
    MOST_REPLICA_RESTARTS,
    MOST_RETRIES,
    ErrorClass,
    JobState,
    error_class,
)
from smlocal.base.quick_dataclass import dataclass

_ReplicaEnd = ReplicaExited | ReplicaLost | StartRefused
_FINAL = {End.SUCCEEDED: JobState.SUCCEEDED, End.FAILED: JobState.FAILED, End.CANCELLED: JobState.CANCELLED}


@dataclass(kw_only=True, slots=True)
class Lifecycle:
    """A job, its replicas, and the decisions so far."""

    replicas: tuple[ReplicaProgress, ...]
    rules: Rules
    progress: JobProgress
    ended: set[str] = field(default_factory=set)
    """Those in `running` whose container has ended, while its output is still being read."""

    @property
    def running(self) -> set[str]:
        """The replicas whose end is waited for."""
        return self.progress.running

    @property
    def over(self) -> bool:
        """True if the job has ended."""
        return self.progress.ended_at is not None

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do."""
        progress = self.progress
        times = [*progress.kill_at.values(), *progress.lost_at.values()]
        if self._deadline[1] is not None:
            times.append(self._deadline[1])
        return min(times, default=None)

    def begin_attempt(self) -> list[Action]:
        """The job prepares an attempt. No replica is there yet."""
        progress = self.progress
        progress.attempt += 1
        progress.restarts, progress.available, progress.verdict = {}, set(), None
        return [self._record(Happened.ATTEMPT), *self._enter(JobState.PREPARING)]

    def start(self) -> list[Action]:
        """Start all replicas, unless something has ended the attempt before."""
        progress = self.progress
        if progress.verdict is not None:
            return []
        names = [replica.name for replica in self.replicas]
        progress.numbers = {name: progress.numbers.get(name, 0) + 1 for name in names}
        progress.running, progress.starting = {*names}, {*names}
        return [Start(numbers=dict(progress.numbers))]

    def handle(self, event: Event, now: float) -> list[Action]:
        """Decide about an event."""
        match event:
            case ReplicaReady() | ReplicaExited() | ReplicaLost() | StartRefused():
                return self._of_container(event, now)
            case MaintenanceBegun(replica=name):
                return self._maintain(name, now)
            case StockOut():
                return self._stock_out(now)
            case InternalError():
                return self._internal_error(event, now)
            case CancelAsked(grace=grace):
                return self._cancel(CancelCause.REQUEST, grace, now)
            case CancelAskedAgain():
                return [*self._cancel(CancelCause.REQUEST, 0.0, now), *self._kill(self.running, now)]
            case _:
                assert_never(event)

    def tick(self, now: float) -> list[Action]:
        """Decide by the clock."""
        actions = kill_due(self.progress, timeout=self.rules.kill_timeout, now=now) + self._lose_overdue(now)
        cause, at = self._deadline
        if at is not None and now >= at:
            actions += self._cancel(cause, None, now)
        return actions

    def after_attempt(self, now: float) -> list[Action]:
        """End the job, or prepare its next attempt. No replica is running any more."""
        progress, verdict = self.progress, self.progress.verdict
        assert verdict is not None  # noqa: S101 - the primary replica never ends for good without one
        assert not progress.running  # noqa: S101 - see above
        if verdict.end is End.MOVED or self._retries(verdict):
            progress.retries += verdict.end is not End.MOVED
            return self.begin_attempt()
        progress.ended_at = now
        actions = self._enter(_FINAL[verdict.end])
        if verdict.end is not End.SUCCEEDED:
            code = CANCELLED if verdict.error is None else ERROR_CODES[verdict.error]
            actions.append(AttachError(code=code, message=verdict.message))
        return actions

    def resume(self, found: Collection[str], now: float) -> list[Action]:
        """For a supervisor that takes the job over: decisions that may not have been carried out.

        `found`: the replicas whose newest container is on the engine. The ends of these containers have been passed on
        as events before. Signals that were sent according to the history are not repeated by the caller.
        """
        progress = self.progress
        actions: list[Action] = []
        for name in sorted(self.running - {*found}):
            if name in progress.starting and progress.verdict is None:
                actions.append(self._restart(name))
            else:
                lost = ReplicaLost(replica=name, number=progress.numbers[name], why="its container is gone")
                actions += self.handle(lost, now)
        for name in sorted((self.running - progress.starting) & {*found}):
            actions += repeat_signal(progress, name)
        return actions

    @property
    def _open(self) -> bool:
        """True while a cancellation can change how the job ends."""
        verdict = self.progress.verdict
        return not self.over and (verdict is None or verdict.end is End.MOVED or self._retries(verdict))

    @property
    def _deadline(self) -> tuple[CancelCause, float | None]:
        """The limit of time that counts now."""
        since, limit, cause = self.progress.ran_at, self.rules.max_running, CancelCause.RAN_TOO_LONG
        if since is None:
            since, limit, cause = self.progress.created, self.rules.max_wait, CancelCause.WAITED_TOO_LONG
        return cause, since + limit if limit is not None and self._open else None

    def _retries(self, verdict: AttemptVerdict) -> bool:
        """True if another attempt follows this error."""
        if verdict.error is None:
            return False
        if verdict.error is ErrorClass.INTERNAL and self.rules.disable_retries and self.progress.ran_at is not None:
            return False
        return self.progress.retries < MOST_RETRIES[verdict.error]

    def _of_container(self, event: ReplicaReady | _ReplicaEnd, now: float) -> list[Action]:
        """Nothing follows from what became of a container that is not the newest of its replica, or was given up."""
        if event.replica not in self.running or event.number != self.progress.numbers[event.replica]:
            return []
        if isinstance(event, ReplicaReady):
            return self._ready(event.replica, now)
        return self._replica_ended(event, now)

    def _ready(self, name: str, now: float) -> list[Action]:
        progress = self.progress
        if name not in progress.starting:
            return []
        progress.starting.discard(name)
        progress.moving.discard(name)
        progress.available.add(name)
        if progress.verdict is not None:
            return repeat_signal(progress, name)
        if progress.state is JobState.PREPARING and len(progress.available) == len(self.replicas):
            if progress.ran_at is None:
                progress.ran_at = now
            return self._enter(JobState.RUNNING)
        return []

    def _replica_ended(self, event: _ReplicaEnd, now: float) -> list[Action]:
        progress, name = self.progress, event.replica
        signal = signal_to(progress, name)
        forget(progress, name)
        leaves = name in progress.moving - progress.starting
        progress.starting.discard(name)
        if progress.verdict is not None:
            self.running.discard(name)
            progress.moving.discard(name)
            return [self._record_end(event, Decision.NOTHING, signal=signal)]
        if leaves:
            return [self._record_end(event, Decision.MOVE_REPLICA, signal=signal), self._start_again(name)]
        progress.moving.discard(name)
        if isinstance(event, ReplicaExited) and event.exit_code == 0:
            return self._done(event, now)
        return self._failed(event, now)

    def _done(self, event: ReplicaExited, now: float) -> list[Action]:
        """A replica exited with 0: the primary one ends the job, another one just does not run any more."""
        self.running.discard(event.replica)
        if not self._replica(event.replica).primary:
            return [self._record_end(event, Decision.NOTHING)]
        self.progress.verdict = AttemptVerdict(end=End.SUCCEEDED, replica=event.replica, exit_code=0)
        return [self._record_end(event, Decision.SUCCEED), *self._terminate(now)]

    def _failed(self, event: _ReplicaEnd, now: float) -> list[Action]:
        progress, name = self.progress, event.replica
        verdict = of_replica(event)
        restarts = progress.restarts.get(name, 0)
        in_place = verdict.error is ErrorClass.REPLICA_FAILURE and not self.rules.restarts_job
        if in_place and restarts < MOST_REPLICA_RESTARTS:
            recorded = self._record_end(event, Decision.RESTART_REPLICA, verdict.error)
            progress.restarts[name] = restarts + 1
            return [recorded, self._start_again(name)]
        self.running.discard(name)
        progress.verdict = verdict
        return [self._record_end(event, self._decision(verdict), verdict.error), *self._terminate(now)]

    def _maintain(self, name: str, now: float) -> list[Action]:
        """The replica continues on another machine. Its end there is not a failure, whatever the exit code."""
        progress = self.progress
        if progress.verdict is not None or name not in self.running - progress.starting - progress.moving:
            return []
        if self.rules.restarts_job:
            progress.verdict = AttemptVerdict(end=End.MOVED, replica=name)
            recorded = self._record(Happened.MAINTENANCE, Decision.RESTART_JOB, replica=name)
            return [recorded, *self._terminate(now)]
        progress.moving.add(name)
        recorded = self._record(Happened.MAINTENANCE, Decision.MOVE_REPLICA, replica=name)
        return [recorded, *terminate(progress, {name}, grace=self.rules.grace, now=now)]

    def _stock_out(self, now: float) -> list[Action]:
        failed = self._fail(Happened.STOCK_OUT, of_stock_out(self.rules))
        return [*failed, *self._terminate(now)] if failed else []

    def _internal_error(self, event: InternalError, now: float) -> list[Action]:
        """All machines are gone at once."""
        actions = self._fail(Happened.INTERNAL_ERROR, of_internal_error(event))
        if actions:
            actions += self._kill(self.running, now)
        if event.replica in self.running:
            actions += self._kill({event.replica}, now)
            actions.append(self._lose(event.replica, event.why))
        return actions

    def _fail(self, happened: Happened, verdict: AttemptVerdict) -> list[Action]:
        """An error that no replica caused. If the attempt ends anyway, it changes nothing."""
        if self.progress.verdict is not None or self.over:
            return []
        self.progress.verdict = verdict
        return [self._record(happened, self._decision(verdict), error=verdict.error, why=verdict.why)]

    def _cancel(self, cause: CancelCause, grace: float | None, now: float) -> list[Action]:
        if not self._open:
            # Nothing changes how the job ends. Another request can only make it end sooner.
            return [] if grace is None else terminate(self.progress, self.running, grace=grace, now=now)
        given = self.rules.grace if grace is None else grace
        self.progress.verdict = of_cancellation(cause, self.rules)
        recorded = self._record(Happened.CANCEL, Decision.CANCEL, cause=cause, grace=given)
        return [
            recorded,
            *self._enter(JobState.CANCELLING),
            *terminate(self.progress, self.running, grace=given, now=now),
        ]

    def _lose_overdue(self, now: float) -> list[Action]:
        """Stop waiting for replicas that SIGKILL did not end in time."""
        actions: list[Action] = []
        for name in sorted(name for name, at in self.progress.lost_at.items() if now >= at):
            del self.progress.lost_at[name]
            if name not in self.ended:
                why = f"{name} did not end within {self.rules.kill_timeout:g} s of SIGKILL"
                actions.append(self._lose(name, why))
                if self.progress.verdict is None:  # its machine is maintained, and the container does not leave it
                    actions += self._internal_error(InternalError(why=why), now)
        return actions

    def _lose(self, name: str, why: str) -> Action:
        """Stop waiting for this replica."""
        forget(self.progress, name)
        for names in (self.progress.running, self.progress.starting, self.progress.moving):
            names.discard(name)
        return self._record(Happened.LOST, replica=name, number=self.progress.numbers[name], why=why)

    def _start_again(self, name: str) -> Action:
        self.progress.starting.add(name)
        self.progress.numbers[name] += 1
        return self._restart(name)

    def _restart(self, name: str) -> Action:
        number, moved = self.progress.numbers[name], name in self.progress.moving
        return Restart(replica=name, number=number, other_machine=moved)

    def _replica(self, name: str) -> ReplicaProgress:
        return next(replica for replica in self.replicas if replica.name == name)

    def _decision(self, verdict: AttemptVerdict) -> Decision:
        return Decision.RETRY_JOB if self._retries(verdict) else Decision.FAIL

    def _enter(self, state: JobState) -> list[Action]:
        if state is self.progress.state:
            return []
        self.progress.state = state
        return [EnterState(state=state)]

    def _record(self, happened: Happened, decision: Decision = Decision.NOTHING, **known: Any) -> Action:
        return Record(entry=HistoryEntry(happened=happened, attempt=self.progress.attempt, decision=decision, **known))

    def _record_end(
        self, event: _ReplicaEnd, decision: Decision, error: ErrorClass | None = None, *, signal: str | None = None
    ) -> Action:
        return Record(entry=end_entry(self.progress, event, decision, error, signal=signal))

    def _terminate(self, now: float) -> list[Action]:
        return terminate(self.progress, self.running, grace=self.rules.grace, now=now)

    def _kill(self, names: set[str], now: float) -> list[Action]:
        return kill(self.progress, names, timeout=self.rules.kill_timeout, now=now)


# Signals to replicas, and when the next are due.


def terminate(progress: JobProgress, replicas: Collection[str], *, grace: float, now: float) -> list[Action]:
    """SIGTERM to those that have not had it. A shorter grace than before moves their SIGKILL forward.

    A replica whose container is just starting gets its signal when it has started.
    """
    for replica in progress.running & {*replicas} - progress.killed:
        progress.kill_at[replica] = min(now + grace, progress.kill_at.get(replica, now + grace))
    chosen = (progress.running & {*replicas}) - progress.signalled
    progress.signalled |= chosen
    there = tuple(sorted(chosen - progress.starting))
    return [Terminate(replicas=there)] if there else []


def kill(progress: JobProgress, replicas: Collection[str], *, timeout: float, now: float) -> list[Action]:
    """SIGKILL to those that have not had it."""
    chosen = (progress.running & {*replicas}) - progress.killed
    for replica in chosen:
        progress.kill_at.pop(replica, None)
        progress.lost_at[replica] = now + timeout
    progress.signalled |= chosen
    progress.killed |= chosen
    there = tuple(sorted(chosen - progress.starting))
    return [Kill(replicas=there)] if there else []


def kill_due(progress: JobProgress, *, timeout: float, now: float) -> list[Action]:
    """SIGKILL to those whose grace period is over."""
    due = [replica for replica, at in progress.kill_at.items() if now >= at]
    return kill(progress, due, timeout=timeout, now=now)


def repeat_signal(progress: JobProgress, replica: str) -> list[Action]:
    """The signal that this replica could not get because it was just starting."""
    if replica in progress.killed:
        return [Kill(replicas=(replica,))]
    return [Terminate(replicas=(replica,))] if replica in progress.signalled else []


def signal_to(progress: JobProgress, replica: str) -> str | None:
    """The last signal that this replica got; None: it got none."""
    if replica in progress.killed:
        return "SIGKILL"
    return "SIGTERM" if replica in progress.signalled else None


def forget(progress: JobProgress, replica: str) -> None:
    """The container has ended: no signal to it is remembered or due."""
    for names in (progress.signalled, progress.killed):
        names.discard(replica)
    for times in (progress.kill_at, progress.lost_at):
        times.pop(replica, None)


# How an attempt ends after an error, with the service's message.

NO_PROGRAM = 127
"""The exit code of a container whose program could not be started."""
GONE = 137
"""The exit code of a container of which nothing is left."""


def of_replica(event: ReplicaExited | ReplicaLost | StartRefused) -> AttemptVerdict:
    """A replica ended, and not with exit code 0."""
    name = event.replica
    why: str | None = None
    match event:
        case ReplicaLost(why=why):
            error, code, reason = ErrorClass.REPLICA_FAILURE, GONE, messages.UNKNOWN
        case StartRefused(why=why):
            error, code, reason = ErrorClass.USER_EXCEPTION, NO_PROGRAM, messages.CANNOT_RUN
        case ReplicaExited(exit_code=code):
            error = error_class(code, oom_killed=event.oom_killed)
            reason = messages.ERROR
    if error is ErrorClass.OUT_OF_MEMORY:
        message = messages.out_of_memory(name, code)
    else:
        message = messages.user_exception(name, code, reason)
    return AttemptVerdict(end=End.FAILED, error=error, message=message, replica=name, exit_code=code, why=why)


def of_stock_out(rules: Rules) -> AttemptVerdict:
    """No machines are available for the job."""
    message = messages.stock_out(rules.region, rules.stock_out_advice)
    return AttemptVerdict(end=End.FAILED, error=ErrorClass.STOCK_OUT, message=message)


def of_internal_error(event: InternalError) -> AttemptVerdict:
    """The service has failed."""
    return AttemptVerdict(end=End.FAILED, error=ErrorClass.INTERNAL, message=messages.INTERNAL, why=event.why)


def of_cancellation(cause: CancelCause, rules: Rules) -> AttemptVerdict:
    """The job was cancelled."""
    match cause:
        case CancelCause.REQUEST:
            message = messages.CANCELLED
        case CancelCause.RAN_TOO_LONG:
            message = messages.ran_too_long(rules.max_running or 0.0)
        case CancelCause.WAITED_TOO_LONG:
            message = messages.waited_too_long(rules.max_wait or 0.0)
    return AttemptVerdict(end=End.CANCELLED, message=message)
