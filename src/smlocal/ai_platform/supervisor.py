"""Supervises the jobs of this platform: does what their lifecycle decides."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from typing import Any, Final

from smlocal.ai_platform.lifecycle import actions, events
from smlocal.ai_platform.lifecycle.actions import Happened
from smlocal.ai_platform.lifecycle.lifecycle import Lifecycle
from smlocal.ai_platform.lifecycle.progress import End, JobProgress
from smlocal.ai_platform.lifecycle.states import JobState
from smlocal.ai_platform.planned_job import PlannedJob
from smlocal.ai_platform.run.container_events import (
    NUMBER_LABEL,
    FoundReplica,
    ReplicaContainer,
    checkpoint_advice,
    found_replicas,
    is_lost,
    mark_log,
    of_host,
    of_request,
    of_start,
    of_thread,
)
from smlocal.ai_platform.run.stored_lifecycle import LIFECYCLE, StoredLifecycle, read_lifecycle, reason_of
from smlocal.ai_platform.views_of_jobs import what_follows_now, what_happened
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.threads import run_each
from smlocal.errors import EngineError
from smlocal.jobs.container_supervisor import ContainerSupervisor
from smlocal.jobs.containers import FoundContainers
from smlocal.jobs.decide.attempt_outcome import HostEnd, RestartCause
from smlocal.jobs.decide.events import (
    ContainerExited,
    ContainerLost,
    Event,
    MachineMoves,
    ThreadDied,
    Woken,
    wants_no_wait,
)
from smlocal.jobs.documents import RECALL
from smlocal.jobs.finish.cleanup import clear_attempt
from smlocal.jobs.finish.results import changed_files
from smlocal.jobs.history import Past
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.logs.log_file import log_path, logged_by
from smlocal.jobs.planning.recall import remember
from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED, FAILED, STOPPED, Ending, FailureKind, JobPhase, PhaseMessage, StopCause

_LOG_BYTES = 16384
"""The bytes at the end of a log that are read: they may hold a traceback."""
_CAUSES: Final = {
    events.CancelCause.REQUEST: StopCause.REQUEST,
    events.CancelCause.RAN_TOO_LONG: StopCause.MAX_RUNTIME,
    events.CancelCause.WAITED_TOO_LONG: StopCause.MAX_WAIT,
}

_PHASES: Final = {
    JobState.RUNNING: {JobPhase.TRAINING, JobPhase.STOPPING},
    JobState.CANCELLING: {JobPhase.STOPPING},
}
"""The phases of a job in these states, even if a stop was requested. Another one is about to end."""


@dataclass(kw_only=True, slots=True)
class ReplicaSupervisor(ContainerSupervisor):
    """Takes one recorded job through its lifecycle."""

    job: PlannedJob = field(init=False)
    stored: StoredLifecycle = field(init=False)
    lifecycle: Lifecycle = field(init=False)
    wall_clock: float = field(default_factory=lambda: time.time() - time.monotonic())
    """Added to the monotonic clock, it gives a clock that goes on in later supervisors."""
    cancel: tuple[events.CancelCause, float] = (events.CancelCause.REQUEST, 0.0)
    """Why the job is being cancelled, and the grace period."""
    attempts_left: int = 0
    """How many attempts have been cleaned up, because another one follows."""
    terminated: set[tuple[str, int]] = field(default_factory=set)
    """The host and the number of each container that got SIGTERM."""
    unread: set[str] = field(default_factory=set)
    """Hosts whose running container an earlier supervisor started: its output is not read."""

    def __post_init__(self) -> None:
        ContainerSupervisor.__post_init__(self)
        self.job = PlannedJob.of(self.plan)
        self._use(StoredLifecycle(progress=JobProgress(created=self.context.created)))

    def run(self) -> None:
        """Run the job to its end."""
        self._do(self.lifecycle.begin_attempt())
        self._go_on()

    def resume(self, past: Past, phase: JobPhase) -> None:
        """Continue a job whose supervisor was killed at any moment."""
        document = self.context.store.document(self.plan.name, LIFECYCLE)
        if document is not None:  # otherwise it was recorded, and nothing has happened
            self._use(read_lifecycle(document))
        self.attempts_left = past.retries
        life = self.lifecycle
        if not life.progress.attempt:
            self._do(life.begin_attempt())
        if life.running or life.progress.verdict is not None:
            self._take_over(past, self.found, phase)
        else:
            clear_attempt(self.context.engines, self.plan)
            self._cancel_again(past)
        self._go_on()

    @classmethod
    def logged_before(cls, store: Store, name: str) -> Mapping[str, int]:
        """Bytes of each log from containers before the last one, which may have been of the same attempt."""
        document = store.document(name, LIFECYCLE)
        return {} if document is None else read_lifecycle(document).logged

    def decide(self) -> tuple[Ending, str | None]:
        """How the job ends, and why, in the service's words."""
        verdict, failure = self.lifecycle.progress.verdict, self.attempt.outcome.failure
        if verdict is None or not self.lifecycle.over:
            why = failure.message if failure is not None and failure.kind is not FailureKind.INTERNAL else ""
            return FAILED, reason_of(None, why)
        if verdict.end is End.SUCCEEDED:
            return COMPLETED, None
        reason = reason_of(verdict, "" if verdict.replica is None else self._log_end(self.job.host_of(verdict.replica)))
        return (STOPPED[_CAUSES[self.cancel[0]]] if verdict.end is End.CANCELLED else FAILED), reason

    def more_results(self) -> dict[str, Any]:
        """The events of each replica, and the decisions about them."""
        state, stored = self.lifecycle.progress.state, self.stored
        return {"Lifecycle": {"State": state, "Error": stored.error, "Entries": stored.entries}}

    def _use(self, stored: StoredLifecycle) -> None:
        self.stored = stored
        self.lifecycle = Lifecycle(replicas=self.job.replicas, rules=self.job.rules, progress=stored.progress)
        self.cancel = stored.cancel

    @property
    def _now(self) -> float:
        return time.monotonic() + self.wall_clock

    def _go_on(self) -> None:
        life = self.lifecycle
        while not life.over:
            if life.running:
                self._watch()
            elif life.progress.verdict is not None:
                self._late_requests()
                self._do(life.after_attempt(self._now))
            else:
                self._one_attempt()
        self.policy.used = life.progress.retries
        self._collect()

    def _one_attempt(self) -> None:
        """Make the containers of all replicas and start them."""
        progress = self.lifecycle.progress
        if progress.attempt - 1 > self.attempts_left:
            self._leave_attempt()
        if self.attempt.faults.no_machines():
            self._handle(events.StockOut())
            return
        self._stage()
        if progress.verdict is None:
            self.attempt.faults.training_began(time.monotonic())
            self._do(self.lifecycle.start())

    def _leave_attempt(self) -> None:
        """Remove the leftovers of the last attempt, which every replica has ended."""
        self.clear(rules=False)
        self.attempts_left += 1
        self.begin_attempt(self.plan, why=RestartCause.RETRY, number=self.lifecycle.progress.attempt)

    def _stage(self) -> None:
        self.attempt.marks = {name: {NUMBER_LABEL: str(self._number(name) + 1)} for name in self.job.hosts}
        self.attempt.download(self.pull_refused)
        if self.attempt.plan is not self.plan:  # its network has other addresses, which a later supervisor needs
            self.context.store.put_document(self.plan.name, RECALL, remember(self.attempt.plan))
        outcome = self.attempt.outcome
        if outcome.stopped is not None:
            self._handle(events.CancelAsked())
        elif outcome.failure is not None:
            why = self.attempt.explanation or outcome.failure.message
            self._handle(events.InternalError(why=f"the containers could not be made: {why}"))

    def _number(self, host: str) -> int:
        return self.lifecycle.progress.numbers.get(self.job.hosts[host], 0)

    def _watch(self) -> None:
        """Handle what happens until no replica is running."""
        attempt, context, life = self.attempt, self.context, self.lifecycle
        attempt.ran = True
        self._requests()
        while life.running:
            life.ended = {self.job.hosts[name] for name, run in attempt.runs.items() if run.container.exited}
            waits = [] if life.wake_at is None else [life.wake_at - self._now]
            if attempt.faults.wake_at is not None:
                waits.append(attempt.faults.wake_at - time.monotonic())
            event = context.events.next(min(waits, default=None))
            self._requests()  # first: a request that was stored before a container ended comes before that
            wanted: list[actions.Action] = []
            while event is not None:  # replicas that have failed at the same time are restarted together
                if not isinstance(event, Woken) and not self._of_earlier_container(event):
                    attempt.record_defect(event)
                    wanted += self._decided(event)
                event = context.events.next(0)
            for fault in attempt.faults.due(time.monotonic()):
                wanted += self._decided(fault)
            self._do([*wanted, *life.tick(self._now)])
        for run in attempt.runs.values():
            if run.container.wait(0) is None:  # it was given up, and may still be running
                run.container.abandon()
            else:
                run.container.join()

    def _of_earlier_container(self, event: Event) -> bool:
        """True for the end of a container that was given up, and another one has its host."""
        if not isinstance(event, ContainerExited | ContainerLost):
            return False
        return self.attempt.runs[event.container].container.wait(0) != event

    def _late_requests(self) -> None:
        """Requests that came while no replica was running: no attempt follows a cancellation."""
        self._requests()
        while (event := self.context.events.next(0)) is not None:
            if isinstance(event, Woken):
                self._requests()
            elif not isinstance(event, ContainerExited | ContainerLost | ThreadDied):
                self._happened(event)

    def _requests(self) -> None:
        for event in self.context.stored_requests.read():
            self._happened(event)

    def _happened(self, event: Event) -> None:
        self._do(self._decided(event))

    def _decided(self, event: Event) -> list[actions.Action]:
        """The decision of the lifecycle about an event."""
        match event:
            case ContainerExited(container=host) | ContainerLost(container=host):
                run = self.attempt.runs[host]
                newest = ReplicaContainer(replica=self.job.hosts[host], number=self._number(host), id=run.container.id)
                if isinstance(event, ContainerExited):
                    self._note_end(host, event)
                if host in self.unread:
                    self.unread.discard(host)
                    run.complete_log()
                known: events.Event = of_host(event, newest, run.engine)
                if isinstance(known, events.InternalError):
                    self.attempt.find_lost_engines()
            case ThreadDied(container=container):
                known = of_thread(event, None if container is None else self.job.hosts[container])
            case MachineMoves(host=host):
                known = events.MaintenanceBegun(replica=self.job.hosts[host])
            case _:
                if wants_no_wait(event):
                    for each in self.attempt.runs.values():
                        each.container.hurry()
                wanted = of_request(event)
                if wanted is None:
                    return []
                known = wanted
        return self.lifecycle.handle(known, self._now)

    def _note_end(self, host: str, event: ContainerExited) -> None:
        """The results of a job show how the last container of each host ended."""
        attempt, progress = self.attempt, self.lifecycle.progress
        others = tuple(end for end in attempt.outcome.ends if end.host != host)
        name = self.job.hosts[host]
        end = HostEnd(
            host=host,
            exit_code=event.exit_code,
            oom_killed=event.oom_killed,
            signalled=name in progress.signalled,
            killed=name in progress.killed,
        )
        attempt.outcome = replace(attempt.outcome, ends=(*others, end))

    def _handle(self, event: events.Event) -> None:
        self._do(self.lifecycle.handle(event, self._now))

    def _do(self, wanted: list[actions.Action]) -> None:
        """Store the decision, then carry it out."""
        for action in wanted:
            match action:
                case actions.Record():
                    self._record(action)
                case actions.AttachError(code=code, message=message):
                    self.stored.error = {"code": code, "message": message}
                case actions.Start(numbers=numbers):
                    for name in numbers:
                        self._mark_log(name)
                case actions.Restart(replica=name, other_machine=other_machine):
                    self._mark_log(name, other_machine=other_machine)
                case _:
                    pass
        if wanted:
            self.context.store.put_document(self.plan.name, LIFECYCLE, self.stored.document())
        following = [each for action in wanted for each in self._carry_out(action)]
        following += self._restart_replicas([action for action in wanted if isinstance(action, actions.Restart)])
        if following:
            self._do(following)

    def _carry_out(self, action: actions.Action) -> list[actions.Action]:
        """Returns what follows at once."""
        match action:
            case actions.EnterState(state=state):
                self._enter(state)
            case actions.Start(numbers=numbers):
                return self._start(numbers)
            case actions.Terminate(replicas=names):
                self._terminate(names)
            case actions.Kill(replicas=names):
                self.attempt.send("SIGKILL", tuple(map(self.job.host_of, names)))
            case actions.Record() | actions.AttachError() | actions.Restart():
                pass
        return []

    def _terminate(self, names: tuple[str, ...]) -> None:
        """Send SIGTERM to those that did not get it from an earlier supervisor."""
        containers = {(host, self._number(host)) for host in map(self.job.host_of, names)} - self.terminated
        self.terminated |= containers
        self.attempt.send("SIGTERM", tuple(sorted(host for host, _ in containers)))

    def _mark_log(self, name: str, *, other_machine: bool = False) -> None:
        """Begin the part of a log that the next container of this replica writes."""
        host, progress = self.job.host_of(name), self.lifecycle.progress
        if progress.numbers[name] > 1:
            restarts = progress.restarts.get(name, 0)
            more = ", on another machine" if other_machine else f", restart {restarts}" if restarts else ""
            text = f"attempt {progress.attempt} of the job{more}"
            mark_log(log_path(self.plan.job_directory, host), text, partial(self.context.reporter.output, host))
        self.stored.logged[host] = logged_by(self.plan.job_directory, host)

    def _record(self, action: actions.Record) -> None:
        entry = action.entry
        self.stored.add(entry, time.time())
        self.cancel = self.stored.cancel
        if entry.happened is not Happened.ATTEMPT:
            known = entry.as_json()
            others = self.lifecycle.running - {entry.replica}
            follows = what_follows_now(known, others_running=bool(others), grace=self.lifecycle.rules.grace)
            self.context.reporter.replica_changed(entry.replica, what_happened(known), follows, entry.exit_code)

    def _enter(self, state: JobState) -> None:
        context = self.context
        match state:
            case JobState.RUNNING:
                context.phases.enter(JobPhase.TRAINING, PhaseMessage.TRAINING, started=True)
            case JobState.CANCELLING if self.attempt.outcome.stopped is None:  # otherwise staging has recorded it
                cause, grace = self.cancel
                context.record_stop(_CAUSES[cause], grace)
                context.reporter.stopping(_CAUSES[cause], grace if self.lifecycle.running else None)
            case _:
                pass

    def _start(self, numbers: Mapping[str, int]) -> list[actions.Action]:
        runs = [self.attempt.runs[self.job.host_of(name)] for name in numbers]
        return self._all_at_once(runs, HostRun.start)

    def _restart_replicas(self, wanted: list[actions.Restart]) -> list[actions.Action]:
        if not wanted:
            return []
        self.context.phases.go_on()
        runs = [self.attempt.runs[self.job.host_of(each.replica)] for each in wanted]
        for run in runs:
            run.marks = {NUMBER_LABEL: str(self._number(run.name))}
        return self._all_at_once(runs, HostRun.restart)

    def _all_at_once(self, runs: list[HostRun], start: Callable[[HostRun], None]) -> list[actions.Action]:
        """Start containers in parallel; returns what follows from those that started and those that could not."""
        errors = run_each(start, runs)
        self.attempt.on_running()
        following: list[actions.Action] = []
        for index, run in enumerate(runs):
            name, number = self.job.hosts[run.name], self._number(run.name)
            error = errors.get(index)
            if error is not None and is_lost(error):
                self.attempt.find_lost_engines()
            known = events.ReplicaReady(replica=name, number=number) if error is None else of_start(error, name, number)
            following += self.lifecycle.handle(known, self._now)
        return following

    def _take_over(self, past: Past, found: FoundContainers, phase: JobPhase) -> None:
        """Watch the existing containers, and carry out decisions that were not carried out."""
        life, hosts = self.lifecycle, self.job.hosts
        if phase not in _PHASES.get(life.progress.state, {phase}):
            self._enter(life.progress.state)
        newest = self._newest_containers(past, found)
        for host, each in newest.items():
            self._handle(events.ReplicaReady(replica=hosts[host], number=each.number))
        if found.ended_with_the_engine:
            self._handle(events.InternalError(why="the engine was restarted while the job had no supervisor"))
        self._cancel_again(past)
        # In the order in which they ended: the first one decides.
        for host, each in sorted(newest.items(), key=lambda item: item[1].ended_at):
            if each.state is not None and not each.running:
                code, oom_killed = each.state.exit_code, each.state.oom_killed
                self._happened(ContainerExited(container=host, exit_code=code, oom_killed=oom_killed))
        self._do(life.resume({hosts[host] for host in newest}, self._now))
        for run in self.attempt.runs.values():
            run.resume_watching()
        self.attempt.on_running()

    def _newest_containers(self, past: Past, found: FoundContainers) -> dict[str, FoundReplica]:
        """Take over existing containers; returns those with the newest number that were started, by host."""
        self.attempt.ran = True
        there = found_replicas(self.context.engines, self.plan, found)
        newest = {}
        for host in self.plan.hosts:
            run, each = self.attempt.host_run(host), there.get(host.host.name)
            run.logged_before = self.stored.logged.get(run.name, 0)
            if each is None:
                continue
            run.take_over(each.id, running=each.running)
            if each.number == self._number(run.name) and each.state is not None:
                newest[run.name] = each
                run.complete_log()
                if each.got_signal(past.terminated.get(run.name)):
                    self.terminated.add((run.name, each.number))
        self.unread = {name for name, each in newest.items() if each.running}
        return newest

    def _cancel_again(self, past: Past) -> None:
        """A stop that an earlier supervisor may not have seen."""
        if past.outcome.stopped is not None:
            self._handle(events.CancelAsked(grace=past.grace))

    def _log_end(self, host: str) -> str:
        """The end of the log of a host's last container."""
        try:
            with open(log_path(self.plan.job_directory, host), "rb") as log:
                log.seek(max(self.stored.logged.get(host, 0), log.seek(0, os.SEEK_END) - _LOG_BYTES))
                return log.read().decode(errors="replace")
        except OSError:
            return ""

    def _collect(self) -> None:
        """Collect the files of the containers beside their logs."""
        verdict = self.lifecycle.progress.verdict
        self.context.phases.leave(good=verdict is not None and verdict.end is not End.FAILED)
        if verdict is not None and verdict.end is End.FAILED and verdict.replica is not None:
            host = self.job.host_of(verdict.replica)
            self.attempt.outcome = replace(self.attempt.outcome, first_failure=host)
            self.attempt.explanation = verdict.why
        self._advise()
        if self.plan.kept.changes:
            with suppress(EngineError):
                self.results.changes = changed_files(self.attempt.runs.values())

    def _advise(self) -> None:
        began, ended = self.lifecycle.progress.ran_at, self.lifecycle.progress.ended_at
        if began is None or ended is None:
            return
        buckets = {tree.uri: tree.listing.root for tree in self.plan.trees}
        advice = checkpoint_advice(buckets, self.plan.hosts[0].environment, began=began, ended=ended)
        if advice is not None:
            self.attempt.hints.append(advice)


SUPERVISOR: Final = ReplicaSupervisor
