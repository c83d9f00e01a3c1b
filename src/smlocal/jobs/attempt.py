"""One attempt of a job: its data, its containers, and how they ended. A restarted job has several."""

import errno
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace
from importlib import import_module
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.threads import run_each, run_parallel
from smlocal.engine.http import chosen_timeouts
from smlocal.errors import (
    EngineError,
    EngineLostError,
    EngineUnreachableError,
    HomeUnusableError,
    MachineNotReadyError,
    PlaceRefusedError,
    StagingError,
    StreamNotStartedError,
)
from smlocal.jobs.context import ContainerContext, download_details, end_details
from smlocal.jobs.control.requests import StopRequests
from smlocal.jobs.decide.attempt_outcome import Course
from smlocal.jobs.decide.events import (
    ContainerExited,
    ContainerLost,
    Event,
    Faults,
    FeedFailed,
    Interrupted,
    StagingStoppedError,
    ThreadDied,
    Woken,
    unexpected_error,
    wants_no_wait,
)
from smlocal.jobs.decide.watch import Action, KillHosts, RecordInterruption, RecordStop, TerminateHosts, Watch
from smlocal.jobs.history import DEFECT, INTERRUPTION, SIGNAL, Past
from smlocal.jobs.host.delivery import Delivery
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.host.staging import download_once
from smlocal.jobs.planning.aspects.network.look import make_network
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.terms.statuses import (
    CANNOT_PULL,
    INTERNAL_ERROR,
    NO_CAPACITY,
    NO_DISK_SPACE,
    Failure,
    FailureKind,
    JobPhase,
    PhaseMessage,
    input_failure,
)

if TYPE_CHECKING:
    from traceback import format_exception

    from smlocal.jobs.credential_endpoint import CredentialEndpoint
    from smlocal.jobs.decide.hints import unread_advice, unread_facts
    from smlocal.jobs.finish.cleanup import clear_attempt
    from smlocal.jobs.host.symptoms import hint_of_exit, hint_of_start
    from smlocal.jobs.mirrored.folders import delete_downloaded_checkpoints, mirroring
    from smlocal.jobs.spreading import leave_alone
else:
    leave_alone = at_use("smlocal.jobs.spreading", "leave_alone")
    format_exception = at_use("traceback", "format_exception")
    hint_of_exit = at_use("smlocal.jobs.host.symptoms", "hint_of_exit")
    hint_of_start = at_use("smlocal.jobs.host.symptoms", "hint_of_start")
    unread_advice = at_use("smlocal.jobs.decide.hints", "unread_advice")
    unread_facts = at_use("smlocal.jobs.decide.hints", "unread_facts")
    delete_downloaded_checkpoints = at_use("smlocal.jobs.mirrored.folders", "delete_downloaded_checkpoints")
    mirroring = at_use("smlocal.jobs.mirrored.folders", "mirroring")
    clear_attempt = at_use("smlocal.jobs.finish.cleanup", "clear_attempt")

_AT_THE_END = (
    "smlocal.engine.networks",
    "smlocal.jobs.finish.artifacts",
    "smlocal.jobs.finish.cleanup",
    "smlocal.jobs.finish.results",
    "smlocal.jobs.host.symptoms",
)
_AT_ONCE = 8
"""More at once make neither the engine nor a disk faster."""


@dataclass(kw_only=True, slots=True)
class Attempt(Course):
    """The containers of one attempt and their ends."""

    context: ContainerContext
    plan: JobPlan
    faults: Faults
    on_running: Callable[[], None] = lambda: None
    """Called when containers have been started, or taken over."""
    credentials: "CredentialEndpoint | None" = None
    """Serves credentials to the containers, if they get any."""
    runs: dict[str, HostRun] = field(default_factory=dict)
    delivery: Delivery = field(init=False)
    mirror_notes: list[str] = field(default_factory=list)
    """Problems that occurred while folders were mirrored."""
    ran: bool = False
    """True once a container has run: there may be something to upload."""
    hurried: bool = False
    """True once a kill was requested after the containers had ended: the artifacts are not waited for."""
    lost_engines: set[str] = field(default_factory=set)
    """Addresses of engines that did not answer any more."""
    marks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Labels of the containers, by host, in addition to the usual ones."""

    def __post_init__(self) -> None:
        context = self.context
        if self.credentials is not None:
            self.credentials.warn = context.reporter.warning
            self.credentials.died = lambda thread, error: context.events.put(ThreadDied(thread=thread, error=error))
            self.credentials.containers = lambda: [run.container.id for run in self.runs.values() if run.container.id]
        self.delivery = Delivery(
            plan=self.plan,
            home=context.store.home,
            reporter=context.reporter,
            on_failure=lambda failure, why: context.events.put(FeedFailed(failure=failure, explanation=why)),
            check=context.stop_requests.check_interruptible,
        )

    @property
    def engine_lost(self) -> bool:
        """True if an engine did not answer any more."""
        return bool(self.lost_engines)

    @property
    def over(self) -> bool:
        """True if no container has to be started or waited for."""
        return self.outcome.decided or self.outcome.interrupted

    def download(self, pull_refused: str | None) -> None:
        """Bring the data and create the containers. An error here fails the job."""
        phases = self.context.phases
        with_data = pull_refused is None and any(host.inputs.trees or host.inputs.pipes for host in self.plan.hosts)
        message = PhaseMessage.DOWNLOADING_DATA if with_data else PhaseMessage.DOWNLOADING_IMAGE
        phases.enter(JobPhase.DOWNLOADING, message, started=True)
        if pull_refused is not None:
            self.fail(CANNOT_PULL, pull_refused)
        elif self.faults.fails("Before"):
            self.fail(INTERNAL_ERROR, "simulated by Local.Faults before training")
        else:
            self._stage()
        phases.leave(download_details(self.plan, self.runs.values()), good=not self.outcome.failed)

    def _stage(self) -> None:
        staged = False
        while not staged and not self.over:
            try:
                self._make_hosts()
                staged = True
            except StagingStoppedError:
                self._handle_waiting()
                self.delivery.close()
                if self.credentials is not None:
                    self.credentials.close()
                if not self.over:
                    clear_attempt(self.context.engines, self.plan)
            except (EngineError, MachineNotReadyError, StagingError, OSError) as error:
                self._handle_error(error)

    def _make_hosts(self) -> None:
        context = self.context
        self.runs = {}
        if self.credentials is not None:
            self.credentials.open(context.record)
        if self.plan.network.own is not None:
            self.plan = make_network(context.engines, self.plan)
        context.stop_requests.check()
        _stage_hosts([self.host_run(host) for host in self.plan.hosts], context.stop_requests)
        context.phases.change_message(PhaseMessage.DOWNLOADING_IMAGE)
        context.stop_requests.check()

    def host_run(self, host: HostPlan) -> HostRun:
        """Add a host to `runs`."""
        context = self.context
        self.runs[host.host.name] = HostRun(
            plan=self.plan,
            host=host,
            engine=context.engines.at(host.engine),
            events=context.events,
            reporter=context.reporter,
            delivery=self.delivery,
            marks=self.marks.get(host.host.name, {}),
            environment={} if self.credentials is None else self.credentials.environment,
        )
        return self.runs[host.host.name]

    def train(self) -> None:
        """Start the containers and watch them to their end."""
        self.context.phases.enter(JobPhase.TRAINING, PhaseMessage.TRAINING)
        started, error = _start_hosts(list(self.runs.values()))
        self.on_running()
        if error is not None:
            self._handle_error(error, containers=True)
        watch = self._watch(run.name for run in started)
        self.faults.training_began(time.monotonic())
        if error is not None:
            self._do(watch.stop_started(time.monotonic()))
        self._watch_to_the_end(watch)

    def start_failed(self, error: Exception) -> None:
        """A container could not be started. A stop that was requested meanwhile takes precedence."""
        self._handle_error(error, containers=True)

    def watch_running(self, *, stop: bool) -> None:
        """Watch the containers that run to their end; `stop`: they are not needed any more."""
        watch = self._watch(name for name, run in self.runs.items() if not run.container.exited)
        if stop:
            self._do(watch.stop_started(time.monotonic()))
        self._watch_to_the_end(watch)

    def _watch(self, running: Iterable[str]) -> Watch:
        stop = self.plan.stop
        return Watch(
            running=set(running),
            stop=stop,
            deadlines=self.context.deadlines(max_runtime=stop.max_runtime, max_wait=stop.max_wait),
            outcome=self.outcome,
            kill_timeout=chosen_timeouts().killed,
        )

    def _mirroring(self) -> AbstractContextManager[None]:
        if self.plan.mirrored.empty:
            return nullcontext()
        return mirroring(
            self.plan,
            cancelled=lambda: self.context.stop_requests.repeated,
            requested=lambda: not self.context.events.empty(),
            notes=self.mirror_notes,
        )

    def _watch_to_the_end(self, watch: Watch) -> None:
        began = time.monotonic()
        started = [self.runs[name] for name in sorted(watch.running)]
        self.ran = self.ran or bool(started)
        try:
            with self._mirroring():
                self._handle_events(watch)
        finally:
            self.outcome = watch.outcome  # a stop counts even if the disk has no room for its record
        if watch.lost is not None and watch.refused:
            self._refused(watch.lost)
        elif watch.lost is not None:
            self._engine_lost(watch.lost)
        self.explanation = self.explanation or watch.explanation
        if self.outcome.failure == INTERNAL_ERROR and self.explanation is None:
            self.explanation = "simulated by Local.Faults during training"
        ended = {end.host for end in self.outcome.ends}
        for run in started:
            if run.name in ended:
                run.container.join()
            else:
                run.container.abandon()
        self.explain_exit_codes(grace=watch.grace, killed_early=watch.killed_early)
        self._explain_unread_objects()
        self.context.training_seconds += time.monotonic() - began
        self.context.phases.leave(end_details(self.outcome), good=not self.outcome.failed)

    def _handle_events(self, watch: Watch) -> None:
        stored = self.context.stored_requests
        self._handle(stored.read(), watch)
        while watch.running:
            clocks = [at for at in (watch.wake_at, self.faults.wake_at) if at is not None]
            event = self.context.events.next(min(clocks) - time.monotonic() if clocks else None)
            # Stored requests come first: a stop that was stored before a container ended is not a failure.
            self._handle(stored.read(), watch)
            if event is not None and not isinstance(event, Woken):
                self.record_defect(event)
                self._handle([event], watch)
            self._handle(self.faults.due(time.monotonic()), watch)
            watch.ended = {name for name, run in self.runs.items() if run.container.exited}
            self._do(watch.tick(time.monotonic()))

    def _handle(self, events: Iterable[Event], watch: Watch, *, idle: bool = False) -> None:
        for event in events:
            if wants_no_wait(event):
                for run in self.runs.values():
                    run.container.hurry()
            self._do(watch.handle(event, time.monotonic()), idle=idle)

    def _do(self, actions: list[Action], *, idle: bool = False) -> None:
        """`idle`: no container is running."""
        context = self.context
        for action in actions:
            match action:
                case RecordStop(cause=cause, grace=grace):
                    context.record_stop(cause, grace)
                    context.reporter.stopping(cause, None if idle else grace)
                case RecordInterruption():
                    context.record(INTERRUPTION, {})
                    context.phases.enter(JobPhase.INTERRUPTED, PhaseMessage.INTERRUPTED)
                case TerminateHosts(hosts=hosts):
                    self.send("SIGTERM", hosts)
                case KillHosts(hosts=hosts):
                    self.send("SIGKILL", hosts)

    def send(self, signal: str, hosts: tuple[str, ...]) -> None:
        """Signal PID 1 of each host. If that fails, the thread that waits for the container notices why."""
        for host in hosts:
            failure = None
            try:
                self.runs[host].container.signal(signal)
            except (EngineError, MachineNotReadyError) as error:
                failure = error.sentence
                if isinstance(error, PlaceRefusedError):
                    self.context.reporter.warning(f"{host} did not get {signal}: {failure}")
            self.context.record(SIGNAL, {"Host": host, "Signal": signal, "Error": failure})

    def record_defect(self, event: Event) -> None:
        """Note in the history that a thread of smlocal has died."""
        if isinstance(event, ThreadDied):
            self.context.record(DEFECT, {"Thread": event.thread, "Traceback": "".join(format_exception(event.error))})

    def resume_watching(self, past: Past, ended: Sequence[ContainerExited], stop_grace: float | None) -> None:
        """Watch containers that an earlier supervisor started, and continue its stop if there was one.

        `ended`: the containers that have ended, in that order. `stop_grace`: the stop's own grace period.
        """
        self.ran = True
        watch = self._watch(set(self.runs) - {each.container for each in ended})
        watch.signalled.update(past.terminated, past.killed)
        watch.killed.update(past.killed)
        stop = self.plan.stop
        grace = stop_grace if stop_grace is not None else stop.grace if self.over else stop.peer_grace
        if past.terminated or self.over:
            first = min(past.terminated.values(), default=time.time())
            watch.kill_at = time.monotonic() + max(0.0, grace - (time.time() - first))
            watch.grace = grace
            self._do(watch.terminate_rest())
        if past.interruption_asked:
            self._handle([Interrupted()], watch)
        self._handle(ended, watch)
        for run in self.runs.values():
            run.resume_watching()
        self.on_running()
        self._watch_to_the_end(watch)

    def simulate_fault_after_training(self) -> None:
        """Fail if `Local.Faults` wants an internal error now."""
        if not self.outcome.decided and self.faults.fails("After"):
            self.fail(INTERNAL_ERROR, "simulated by Local.Faults after training")

    def handle_late_requests(self) -> None:
        """Handle stop requests that come while artifacts are packed and uploaded."""
        if not self.context.events.empty():
            self.hurried = self._handle_waiting() or self.hurried

    def _handle_waiting(self, *, containers: bool = False) -> bool:
        """Handle the events in the queue while no container is watched; True if one of them wants no wait at all.

        `containers`: their events are kept.
        """
        watch, kept, hurried = self._watch(()), [], False
        while (event := self.context.events.next(0)) is not None:
            if containers and isinstance(event, ContainerExited | ContainerLost):
                kept.append(event)
                continue
            events = [*self.context.stored_requests.read()] if isinstance(event, Woken) else [event]
            hurried = hurried or any(map(wants_no_wait, events))
            self._handle(events, watch, idle=True)
        for each in kept:
            self.context.events.put(each)
        self.outcome = watch.outcome
        self.explanation = self.explanation or watch.explanation
        return hurried

    def engine_failed(self, error: EngineError | MachineNotReadyError) -> None:
        """The engine does not do what it should; this fails the job unless its outcome is decided."""
        if isinstance(error, EngineLostError | EngineUnreachableError):
            self._engine_lost(error.sentence)
        elif not self.outcome.decided:
            self.fail(INTERNAL_ERROR, error.with_details)

    def find_lost_engines(self) -> None:
        """Remember which engine is lost, after a call to one has shown that."""
        engines = self.context.engines
        if len(engines) == 1:
            self.lost_engines.update(engines.addresses)
            return
        for address in engines.addresses:
            try:
                engines.at(address).began()
            except (EngineError, MachineNotReadyError):
                self.lost_engines.add(address)

    def _engine_lost(self, why: str) -> None:
        self.find_lost_engines()
        if not self.outcome.decided:
            why = f"the connection to the engine was lost while the job was running: {why}"
            self.fail(NO_CAPACITY if self.plan.spread else INTERNAL_ERROR, why)
            self._leave_alone()

    def _refused(self, why: str) -> None:
        """The engine is there, and what is left can be removed at once."""
        if not self.outcome.decided:
            self.fail(INTERNAL_ERROR, f"a container could not be watched: {why}")

    def _leave_alone(self) -> None:
        """If the job is one of many that run on several engines: the next ones go to others for a while."""
        if self.plan.spread:
            leave_alone(self.context.store, self.context.engines.addresses)

    def _handle_error(self, error: Exception, *, containers: bool = False) -> None:
        """An error before PID 1 of a host ran. A stop that was requested meanwhile takes precedence.

        `containers`: those of other hosts may run, or have ended already.
        """
        self._handle_waiting(containers=containers)
        if not self.over:
            self._fail_before_training(error)
        elif isinstance(error, EngineLostError | EngineUnreachableError):
            self.find_lost_engines()

    def _fail_before_training(self, error: Exception) -> None:
        """Fail with the reason that the service would give."""
        match error:
            case EngineLostError() | EngineUnreachableError():
                self._engine_lost(error.sentence)
            case EngineError():
                self._cannot_start(error)
            case _:
                self.fail(*staging_failure(error))

    def _cannot_start(self, error: EngineError) -> None:
        """An error of the runtime is the image's fault, any other error the machine's."""
        if error.is_of_runtime:
            failure = Failure(kind=FailureKind.START, message=error.sentence)
            self.outcome = replace(self.outcome, failure=failure)
            hint = hint_of_start(error, next(iter(self.runs.values())))
            self.hints += [] if hint is None else [hint]
        else:
            self.fail(INTERNAL_ERROR, f"the engine could not start a container: {error.sentence}")
            self._leave_alone()
            self.hints += error.remedy

    def explain_exit_codes(self, *, grace: float, killed_early: bool = False) -> None:
        """Add what is known about the hosts that did not exit with 0, whose output was read."""
        for end in self.outcome.ends:
            if end.exit_code != 0:
                hint = hint_of_exit(
                    end,
                    self.runs[end.host],
                    grace=grace,
                    killed_early=killed_early,
                    credentials=self.credentials is not None,
                )
                self.hints += [] if hint is None else [hint]

    def _explain_unread_objects(self) -> None:
        """A program that gets EIO from a FastFile channel cannot know the reason."""
        self.hints += [note for note in self.delivery.not_checked() if note not in self.hints]
        unread = self.delivery.unread()
        if not unread:
            return

        facts = unread_facts(unread)
        if self.outcome.first_failure is not None and self.explanation is None:
            self.explanation = "; ".join(facts)
        else:
            self.hints += facts
        self.hints += unread_advice(unread)


def staging_failure(error: Exception) -> tuple[Failure, str | None]:  # noqa: PLR0911 - one for each kind of error
    """The failure, and the real cause if that says more. Errors of the engine are judged elsewhere."""
    match error:
        case StreamNotStartedError():
            return INTERNAL_ERROR, "; ".join(error.details)
        case StagingError():
            return input_failure(error.sentence), "; ".join(error.details) or None
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return NO_DISK_SPACE, str(error)
        case OSError():
            return input_failure(f"Data download failed:{error.strerror or error}: {error.filename}"), str(error)
        case HomeUnusableError():
            return NO_DISK_SPACE, error.with_details
        case MachineNotReadyError():
            return INTERNAL_ERROR, error.with_details
        case _:
            return INTERNAL_ERROR, unexpected_error(error)


def _stage_hosts(runs: Sequence[HostRun], stop_requests: StopRequests) -> None:
    """Prepare all hosts; `StagingStoppedError` if a request comes meanwhile."""
    if len(runs) == 1:
        runs[0].prepare(stop_requests.interruptible)
    else:
        download_once(runs[0].plan, runs[0].delivery, stop_requests.interruptible)
        run_parallel(lambda run: run.prepare(stop_requests.checked), runs, at_once=_AT_ONCE)
    if runs[0].plan.mirrored.checkpoints is not None:
        delete_downloaded_checkpoints(runs[0].plan)
    for run in runs:
        run.delivery.open_pipes(run.host, stop_requests.interruptible)


def _start_hosts(runs: Sequence[HostRun]) -> tuple[list[HostRun], Exception | None]:
    """Start all hosts at the same time; returns those that were started, and the first error."""

    def import_the_rest() -> None:
        """A start takes 0.17 s. Meanwhile, import the modules needed when the containers have ended."""
        for module in _AT_THE_END:
            import_module(module)
        runs[0].reporter.import_the_rest()

    errors = run_each(lambda run: run.start(), runs, meanwhile=import_the_rest)
    return [run for number, run in enumerate(runs) if number not in errors], next(iter(errors.values()), None)
