"""One attempt of a job: its data, its containers, and how they ended. A job has several when it is restarted."""

import errno
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from smlocal.contract.outcome import failure_reason
from smlocal.contract.outcome.statuses import SecondaryStatus, StatusMessage
from smlocal.engine.timeouts import chosen_timeouts
from smlocal.errors import (
    EngineError,
    EngineLostError,
    EngineUnreachableError,
    HomeUnusableError,
    MachineNotReadyError,
    StagingError,
)
from smlocal.job import details
from smlocal.job.context import Context
from smlocal.job.control.stop_requests import BrokenOffError
from smlocal.job.control.stop_signals import send_signal
from smlocal.job.decide.attempt_outcome import Story
from smlocal.job.decide.events import Event, FeedBroken, HostExited, Interrupted, Poked, ThreadDied, defect
from smlocal.job.decide.faults import Faults
from smlocal.job.decide.watch import Action, Kill, RecordInterruption, RecordStop, Terminate, Watch
from smlocal.job.finish.cleanup import clear_attempt
from smlocal.job.host.all_hosts import stage_hosts
from smlocal.job.host.delivery import Delivery
from smlocal.job.host.host_run import HostRun
from smlocal.job.host.start import start_all
from smlocal.job.mirrored.mirrors import Mirrors
from smlocal.planning.model import HostPlan, JobPlan
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.job.control.history import Past
    from smlocal.job.credential_endpoint import CredentialEndpoint

HOME_FULL = failure_reason.client_error("Data download failed:Insufficient disk space")
"""The disk that holds the job became full before a container ran."""
_RUNTIME = "OCI runtime"


@dataclass(kw_only=True, slots=True)
class Attempt:
    """The containers of one attempt and what became of them."""

    context: Context
    plan: JobPlan
    faults: Faults
    on_running: Callable[[], None] = lambda: None
    """Called when containers have been started, or taken over."""
    credentials: "CredentialEndpoint | None" = None
    """Where the containers get credentials, if they get any."""
    story: Story = field(default_factory=Story)
    runs: dict[str, HostRun] = field(default_factory=dict)
    delivery: Delivery = field(init=False)
    mirrors: Mirrors = field(init=False)
    ran: bool = False
    """True once a container has run: there may be something to upload."""
    engine_lost: bool = False
    explanation: str | None = None
    """What really happened, where the service would only speak of an internal error."""
    hints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.credentials is not None:
            self.credentials.warn = self.context.reporter.warning
            self.credentials.died = lambda thread, error: self.context.events.put(
                ThreadDied(thread=thread, error=error)
            )
            self.credentials.containers = lambda: [run.container.id for run in self.runs.values() if run.container.id]
        self.mirrors = Mirrors(plan=self.plan, given_up=lambda: self.context.signals.repeated)
        self.delivery = Delivery(
            plan=self.plan,
            home=self.context.store.home,
            reporter=self.context.reporter,
            broken=lambda reason, why: self.context.events.put(FeedBroken(reason=reason, explanation=why)),
            check=self.context.signals.check_interruptible,
        )

    @property
    def over(self) -> bool:
        """True when there is nothing to wait for any more."""
        return self.story.decided or self.story.interrupted

    def download(self, pull_refused: str | None) -> None:
        """Bring the data and make the containers; what fails here fails the job."""
        phases = self.context.phases
        with_data = pull_refused is None and any(host.channels or host.pipes for host in self.plan.hosts)
        message = StatusMessage.DOWNLOADING_DATA if with_data else StatusMessage.DOWNLOADING_IMAGE
        phases.enter(SecondaryStatus.DOWNLOADING, message, started=True)
        if pull_refused is not None:
            self._failed(failure_reason.CANNOT_PULL, pull_refused)
        elif self.faults.strikes("Before"):
            self._failed(failure_reason.INTERNAL_ERROR, "simulated by Local.Faults before training")
        else:
            self._stage()
        phases.leave(details.downloaded(self.plan, self.runs.values()), good=not self.story.failed)

    def _stage(self) -> None:
        staged = False
        while not staged and not self.over:
            try:
                self._make_hosts()
                staged = True
            except BrokenOffError:
                self._hear_waiting()
                self.delivery.close()
                if self.credentials is not None:
                    self.credentials.close()
                if not self.over:
                    clear_attempt(self.context.engine, self.plan)
            except (EngineError, MachineNotReadyError, StagingError, OSError) as error:
                self._trouble(error)

    def _make_hosts(self) -> None:
        context = self.context
        self.runs = {}
        if self.credentials is not None:
            self.credentials.open(context.record)
        if self.plan.network is not None:
            from smlocal.job.prepare.networks import make_network  # most jobs have one host

            self.plan = make_network(context.engine, self.plan)
        context.signals.check()
        stage_hosts([self.host_run(host) for host in self.plan.hosts], context.signals)
        context.signals.check()
        context.phases.say(StatusMessage.DOWNLOADING_IMAGE)

    def host_run(self, host: HostPlan) -> HostRun:
        """What this attempt holds of one host, from now on."""
        context = self.context
        self.runs[host.host.name] = HostRun(
            plan=self.plan,
            host=host,
            engine=context.engine,
            events=context.events,
            reporter=context.reporter,
            delivery=self.delivery,
            environment={} if self.credentials is None else self.credentials.environment,
        )
        return self.runs[host.host.name]

    def _hear_waiting(self) -> None:
        """Take in what was asked for while no container ran."""
        watch = self._watch(())
        while (event := self.context.events.next(0)) is not None:
            for each in self._translated(event):
                self._do(watch.hear(each, time.monotonic()), idle=True)
        self.story = watch.story
        self.explanation = self.explanation or watch.explanation

    def train(self) -> None:
        """Start the containers and watch them to their end."""
        context = self.context
        context.phases.enter(SecondaryStatus.TRAINING, StatusMessage.TRAINING)
        started, error = start_all(list(self.runs.values()))
        self.on_running()
        if error is not None:
            self._trouble(error)
        self.watch(started, give_up=error is not None)

    def watch(self, started: list[HostRun], *, give_up: bool = False) -> None:
        """Watch what was started a moment ago."""
        watch = self._watch(run.name for run in started)
        self.faults.training_began(time.monotonic())
        if give_up:
            self._do(watch.give_up(time.monotonic()))
        self._to_the_end(watch)

    def resume_watching(self, past: "Past", ended: Sequence[HostExited], asked: float | None) -> None:
        """Watch on what an earlier supervisor started, from where its stop ladder stood.

        `ended`: the hosts that nothing can be done to any more, in the order in which they ended.
        """
        self.ran = True
        watch = self._watch(set(self.runs) - {each.host for each in ended})
        watch.signalled.update(past.terminated, past.killed)
        watch.killed.update(past.killed)
        grace = asked if asked is not None else self.plan.stop.grace if self.over else self.plan.stop.peer_grace
        if past.terminated or self.over:
            first = min(past.terminated.values(), default=time.time())
            watch.kill_at = time.monotonic() + max(0.0, grace - (time.time() - first))
            watch.grace = grace
            self._do(watch.terminate_rest())
        if past.interruption_asked:
            self._do(watch.hear(Interrupted(), time.monotonic()))
        for each in ended:
            self._do(watch.hear(each, time.monotonic()))
        for run in self.runs.values():
            run.resume_watching()
        self.on_running()
        self._to_the_end(watch)

    def _to_the_end(self, watch: Watch) -> None:
        """Listen until every container has ended: exits, stops, faults, word of others, and the clocks."""
        began = time.monotonic()
        started = [self.runs[name] for name in sorted(watch.running)]
        self.ran = self.ran or bool(started)
        with self.mirrors.running():
            self._listen(watch)
        self.story = watch.story
        if watch.lost is not None:
            self._lost(watch.lost)
        self.explanation = self.explanation or watch.explanation
        if self.story.failure_reason == failure_reason.INTERNAL_ERROR and self.explanation is None:
            self.explanation = "simulated by Local.Faults during training"
        told = {end.host for end in self.story.ends}
        for run in started:
            if run.name in told:
                run.container.join()
            else:
                run.container.abandon()
        self._explain_ends(watch)
        spent = self.context.spent
        spent["training"] = spent.get("training", 0.0) + time.monotonic() - began
        self.context.phases.leave(details.ended(self.story), good=not self.story.failed)

    def hear_late(self) -> None:
        """A stop that is asked for while the artifacts are packed and uploaded still is one."""
        if not self.context.events.empty():
            self._hear_waiting()

    def _listen(self, watch: Watch) -> None:
        self._hear_all(self.context.ear.listen(), watch)
        while watch.running:
            clocks = [at for at in (watch.wake_at, self.faults.wake_at) if at is not None]
            event = self.context.events.next(min(clocks) - time.monotonic() if clocks else None)
            # Word that was left before a container's end was heard of comes first: a recorded stop is never a failure.
            self._hear_all(self.context.ear.listen(), watch)
            if event is not None and not isinstance(event, Poked):
                self._keep_trace(event)
                self._do(watch.hear(event, time.monotonic()))
            self._hear_all(self.faults.due(time.monotonic()), watch)
            watch.ended = {name for name, run in self.runs.items() if run.container.exited}
            self._do(watch.tick(time.monotonic()))

    def engine_failed(self, error: EngineError | MachineNotReadyError) -> None:
        """The engine does not give what is needed, at any time; a job whose end is decided ends as decided."""
        if isinstance(error, EngineLostError | EngineUnreachableError):
            self._lost(error.sentence)
        elif not self.story.decided:
            self._failed(failure_reason.INTERNAL_ERROR, "; ".join([error.sentence, *error.details]))

    def strike_after(self) -> None:
        """An internal error that `Local.Faults` wants after training."""
        if not self.story.decided and self.faults.strikes("After"):
            self._failed(failure_reason.INTERNAL_ERROR, "simulated by Local.Faults after training")

    def _watch(self, running: Iterable[str]) -> Watch:
        stop = self.plan.stop
        return Watch(
            running=set(running),
            limits=stop,
            deadlines=self.context.deadlines(max_runtime=stop.max_runtime, max_wait=stop.max_wait),
            story=self.story,
            end_within=chosen_timeouts().killed,
        )

    def _translated(self, event: Event | Poked) -> Iterable[Event]:
        return self.context.ear.listen() if isinstance(event, Poked) else (event,)

    def _hear_all(self, events: Iterable[Event], watch: Watch) -> None:
        for event in events:
            self._do(watch.hear(event, time.monotonic()))

    def _do(self, actions: list[Action], *, idle: bool = False) -> None:
        """`idle`: no container runs."""
        context = self.context
        for action in actions:
            match action:
                case RecordStop(cause=cause, grace=grace):
                    context.record_stop(cause, grace)
                    context.reporter.stopping(cause, None if idle else grace)
                case RecordInterruption():
                    context.record("interruption", {})
                    context.phases.enter(SecondaryStatus.INTERRUPTED, StatusMessage.INTERRUPTED)
                case Terminate(hosts=hosts):
                    self._signal("SIGTERM", hosts)
                case Kill(hosts=hosts):
                    self._signal("SIGKILL", hosts)

    def _keep_trace(self, event: Event) -> None:
        """Where a defect happened is kept in the job's history, since it is seldom met twice."""
        if isinstance(event, ThreadDied):
            from traceback import format_exception

            self.context.record("defect", {"Thread": event.thread, "Traceback": "".join(format_exception(event.error))})

    def _signal(self, signal: str, hosts: tuple[str, ...]) -> None:
        containers = {name: run.container.id for name, run in self.runs.items()}
        send_signal(signal, hosts, containers, engine=self.context.engine, record=self.context.record)

    def _explain_ends(self, watch: Watch) -> None:
        for end in self.story.ends:
            if end.exit_code != 0:
                from smlocal.job.decide.exit_hints import hints_of  # most containers exit 0

                self.hints += hints_of(
                    end,
                    self.runs[end.host],
                    grace=watch.grace,
                    impatient=watch.impatient,
                    credentials=self.credentials is not None,
                )
        self._explain_unread()

    def _explain_unread(self) -> None:
        """A program that gets EIO from its channel cannot tell why; whether it failed for that, its log may say."""
        self.hints += [note for note in self.delivery.not_checked() if note not in self.hints]
        unread = self.delivery.unread()
        if not unread:
            return
        from smlocal.job.decide.unread_objects import unread_advice, unread_facts  # hardly any job needs it

        facts = unread_facts(unread)
        if self.story.first_failure is not None and self.explanation is None:
            self.explanation = "; ".join(facts)
        else:
            self.hints += facts
        self.hints += unread_advice(unread)

    def _failed(self, reason: str, explanation: str | None) -> None:
        self.explanation = explanation
        self.story = replace(self.story, failure_reason=reason)

    def _lost(self, why: str) -> None:
        self.engine_lost = True
        if not self.story.decided:
            self._failed(
                failure_reason.INTERNAL_ERROR, f"the connection to the engine was lost while the job was running: {why}"
            )

    def _trouble(self, error: Exception) -> None:
        """A stop that was asked for meanwhile wins: the call that failed may have taken a while."""
        self._hear_waiting()
        if not self.over:
            self._blame(error)
        elif isinstance(error, EngineLostError | EngineUnreachableError):
            self.engine_lost = True

    def _blame(self, error: Exception) -> None:
        """Find the reason that the service would give for what went wrong before the first process ran."""
        match error:
            case StagingError():
                self._failed(error.sentence, "; ".join(error.details) or None)
            case OSError():
                self._failed(failure_reason.client_error(_download_failure(error)), str(error))
            case EngineLostError() | EngineUnreachableError():
                self._lost(error.sentence)
            case EngineError():
                self._cannot_start(error)
            case HomeUnusableError():
                self._failed(HOME_FULL, "; ".join([error.sentence, *error.details]))
            case MachineNotReadyError():
                self._failed(failure_reason.INTERNAL_ERROR, "; ".join([error.sentence, *error.details]))
            case _:
                self._failed(failure_reason.INTERNAL_ERROR, defect(error))

    def _cannot_start(self, error: EngineError) -> None:
        """The runtime's refusal is the image's fault; any other trouble is the machine's, as it is on the service."""
        if _RUNTIME in error.sentence:
            from smlocal.job.decide.start_hints import start_hints  # most containers start
            from smlocal.job.host.staging import mounts

            self.story = replace(self.story, start_error=error.sentence)
            mounted = [mount.target for mount in mounts(self.plan, self.plan.hosts[0])]
            self.hints += start_hints(error.sentence, mounted)
        else:
            self._failed(failure_reason.INTERNAL_ERROR, f"the engine could not start a container: {error.sentence}")


def _download_failure(error: OSError) -> str:
    """The service's words for what went wrong while data was brought."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "Data download failed:Insufficient disk space"
    return f"Data download failed:{error.strerror or error}: {error.filename}"
