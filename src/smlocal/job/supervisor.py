"""The life of one job, from its record to its last status. The only place that knows all the rooms."""

import errno
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from smlocal.artifacts.collect import Artifacts
from smlocal.contract import failure
from smlocal.contract.statuses import SecondaryStatus, StatusMessage, StopCause, TrainingJobStatus
from smlocal.engine.interface import JOB_LABEL, Engine
from smlocal.errors import ArtifactError, EngineError, EngineLostError, StagingError
from smlocal.job import details, hints
from smlocal.job.cleanup import clear_disk, clear_engine
from smlocal.job.collect import collect_artifacts, give_back
from smlocal.job.describe import LOCAL, PLAN, REQUEST, describe_job
from smlocal.job.events import Events, StopAsked
from smlocal.job.failure_file import read_failure
from smlocal.job.folder import keep
from smlocal.job.host_run import HostRun
from smlocal.job.ladder import send_signal
from smlocal.job.local_block import local_block
from smlocal.job.outcome import Story, ending
from smlocal.job.phases import Phases
from smlocal.job.prepare import Prepared
from smlocal.job.reporter import Reporter
from smlocal.job.signals import StoppedEarlyError, StopSignals
from smlocal.job.start import start_all
from smlocal.job.watch import Action, Kill, RecordStop, Terminate, Watch
from smlocal.plan.document import host_directory, plan_document
from smlocal.plan.model import JobPlan
from smlocal.store.jobs import Store

_RUNTIME = "OCI runtime"


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What became of a job, for the face that ran it."""

    answer: Mapping[str, Any]
    status: TrainingJobStatus
    signal: int | None
    """The signal that stopped it, where one did."""


def supervise(prepared: Prepared, *, engine: Engine, store: Store, reporter: Reporter) -> Result:
    """Record the job, run it to its end, and return the final describe answer."""
    plan = prepared.plan
    documents: dict[str, Any] = {REQUEST: dict(plan.request), PLAN: plan_document(plan)}
    events = Events()
    with StopSignals(events) as signals:
        store.create(
            plan.name,
            run_id=plan.run_id,
            created=time.time(),
            documents=documents,
            supervisor_pid=os.getpid(),
            message=StatusMessage.PREPARING,
        )
        for kind, document in documents.items():
            keep(store.directory(plan.name), kind, document)
        reporter.planned(plan)
        Supervisor(
            prepared=prepared,
            plan=plan,
            engine=engine,
            store=store,
            reporter=reporter,
            events=events,
            signals=signals,
            phases=Phases(store=store, job=plan.name, reporter=reporter),
        ).run()
    answer = describe_job(store, plan.name)
    keep(store.directory(plan.name), "describe", answer)
    return Result(answer=answer, status=TrainingJobStatus(answer["TrainingJobStatus"]), signal=signals.received)


@dataclass(kw_only=True, slots=True)
class Supervisor:
    """Takes one recorded job through its phases. Use `supervise`."""

    prepared: Prepared
    plan: JobPlan
    engine: Engine
    store: Store
    reporter: Reporter
    events: Events
    signals: StopSignals
    phases: Phases
    story: Story = field(default_factory=Story)
    runs: dict[str, HostRun] = field(default_factory=dict)
    artifacts: Artifacts | None = None
    hints: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    explanation: str | None = None
    """What really happened, where the service would only speak of an internal error."""
    ran: bool = False
    engine_lost: bool = False

    def run(self) -> None:
        """Every phase, in order; whatever goes wrong, the job ends in a terminal state and leaves nothing behind."""
        self.phases.begin()
        try:
            self._download()
            if not self.story.decided:
                self._train()
            if self.ran:
                self._upload()
        except Exception as error:
            self.story = replace(self.story, failure_reason=failure.INTERNAL_ERROR)
            self.explanation = f"a defect of smlocal: {type(error).__name__}: {error}"
            raise
        finally:
            self._finish()

    def _download(self) -> None:
        """Bring the data and make the containers; what fails here fails the job."""
        with_data = self.prepared.pull_refused is None and bool(self.plan.hosts[0].channels)
        message = StatusMessage.DOWNLOADING_DATA if with_data else StatusMessage.DOWNLOADING_IMAGE
        self.phases.enter(SecondaryStatus.DOWNLOADING, message, started=True)
        if self.prepared.pull_refused is not None:
            self.explanation = self.prepared.pull_refused
            self.story = replace(self.story, failure_reason=failure.CANNOT_PULL)
            return
        try:
            with self.signals.interruptible():
                self._make_hosts()
        except StoppedEarlyError:
            self._record_stop(StopCause.REQUEST)
        except EngineLostError as error:
            self._lost(error.sentence)
        except EngineError as error:
            self._cannot_start(error)
        except StagingError as error:
            self._staging_failed(error.sentence, "; ".join(error.details) or None)
        except OSError as error:
            self._staging_failed(failure.client_error(_download_failure(error)), str(error))
        self.phases.leave(details.downloaded(self.plan, self.runs.values()), good=not self.story.failed)

    def _make_hosts(self) -> None:
        if self.plan.network is not None:
            self.engine.create_network(self.plan.network, {JOB_LABEL: self.plan.name})
        for host in self.plan.hosts:
            run = HostRun(plan=self.plan, host=host, engine=self.engine, events=self.events, reporter=self.reporter)
            self.runs[run.name] = run
            run.prepare()
        self.phases.say(StatusMessage.DOWNLOADING_IMAGE)

    def _train(self) -> None:
        self.phases.enter(SecondaryStatus.TRAINING, StatusMessage.TRAINING)
        began = time.monotonic()
        started, error = start_all(list(self.runs.values()))
        self.ran = bool(started)
        if isinstance(error, EngineLostError):
            self._lost(error.sentence)
        elif error is not None:
            self._cannot_start(error)
        watch = Watch(
            running={run.name for run in started},
            limits=self.plan.stop,
            deadline=began + self.plan.stop.max_runtime,
            story=self.story,
        )
        if error is not None:
            self._do(watch.give_up(time.monotonic()))
        while watch.running:
            wake_at = watch.wake_at
            event = self.events.next(None if wake_at is None else wake_at - time.monotonic())
            now = time.monotonic()
            self._do(watch.tick(now) if event is None else watch.hear(event, now))
        self.story = watch.story
        if watch.lost is not None:
            self._lost(watch.lost)
        for run in started:
            run.join()
        self._explain_ends(watch)
        self.phases.leave(details.ended(self.story), good=not self.story.failed)

    def _do(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case RecordStop(cause=cause):
                    self._record_stop(cause)
                    self.reporter.stopping(cause, self.plan.stop.grace)
                case Terminate(hosts=hosts):
                    self._signal("SIGTERM", hosts)
                case Kill(hosts=hosts):
                    self._signal("SIGKILL", hosts)

    def _signal(self, signal: str, hosts: tuple[str, ...]) -> None:
        containers = {name: run.container for name, run in self.runs.items()}
        send_signal(signal, hosts, containers, engine=self.engine, store=self.store, job=self.plan.name)

    def _explain_ends(self, watch: Watch) -> None:
        first = self.plan.entrypoint or (self.plan.image_facts and self.plan.image_facts.entrypoint)
        for end in self.story.ends:
            if end.exit_code != 0:
                self.hints += hints.exit_hints(
                    self.runs[end.host].log_tail(),
                    killed=end.killed,
                    first_process=" ".join(first or self.plan.command or ()),
                    grace=watch.grace,
                )

    def _upload(self) -> None:
        """Pack what the containers wrote, after a failure or a stop too."""
        self.phases.enter(SecondaryStatus.UPLOADING, StatusMessage.UPLOADING, ended=self.story.failed)
        try:
            self.artifacts = collect_artifacts(self.plan, self.runs.values(), self.engine)
        except ArtifactError as error:
            self.explanation = self.explanation or error.sentence
            if not self.story.decided:
                self.story = replace(self.story, failure_reason=failure.client_error(error.sentence))
        except EngineLostError as error:
            if not self.story.decided:
                self._lost(error.sentence)
        self._hear_late_stop()
        self.phases.leave(details.uploaded(self.artifacts), good=self.artifacts is not None)

    def _hear_late_stop(self) -> None:
        """A stop that was asked for while the artifacts were packed still is one."""
        while (event := self.events.next(0)) is not None:
            if isinstance(event, StopAsked) and not self.story.decided:
                self._record_stop(event.cause)

    def _finish(self) -> None:
        """Decide, clean up, and only then say that the job is over."""
        ended, reason = ending(self.story, self._failure_file())
        if not self.engine_lost:
            self.leftovers += give_back(self.runs.values(), self.engine)
        self.leftovers += clear_engine(self.engine, self.plan.name, engine_lost=self.engine_lost)
        self.leftovers += clear_disk(self.plan.job_directory)
        self.phases.leave(good=ended.status is not TrainingJobStatus.FAILED)
        self.store.put_document(self.plan.name, LOCAL, local_block(self))
        self.store.transition(
            self.plan.name,
            status=ended.status,
            secondary_status=ended.secondary,
            message=ended.message,
            at=time.time(),
            failure_reason=reason,
        )

    def _failure_file(self) -> bytes:
        run = self.runs.get(self.story.first_failure or "")
        if run is None:
            return b""
        return read_failure(f"{host_directory(self.plan, run.host)}/output", self.engine, run.container)

    def _record_stop(self, cause: StopCause) -> None:
        self.phases.enter(SecondaryStatus.STOPPING, StatusMessage.STOPPING)
        self.store.add_event(self.plan.name, time.time(), "stop", {"Cause": cause})
        self.story = replace(self.story, stopped=cause)

    def _lost(self, why: str) -> None:
        self.engine_lost = True
        self.explanation = f"the engine was lost while the job ran: {why}"
        self.story = replace(self.story, failure_reason=failure.INTERNAL_ERROR)

    def _staging_failed(self, reason: str, explanation: str | None) -> None:
        self.explanation = explanation
        self.story = replace(self.story, failure_reason=reason)

    def _cannot_start(self, error: EngineError) -> None:
        """The runtime's refusal is the image's fault; any other trouble is the machine's, as it is on the service."""
        if _RUNTIME in error.sentence:
            self.story = replace(self.story, start_error=error.sentence)
            self.hints += hints.start_hints(error.sentence)
        else:
            self.story = replace(self.story, failure_reason=failure.INTERNAL_ERROR)
            self.explanation = f"the engine could not start a container: {error.sentence}"


def _download_failure(error: OSError) -> str:
    """The service's words for what went wrong while data was brought."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "Data download failed:Insufficient disk space"
    return f"Data download failed:{error.strerror or error}: {error.filename}"
