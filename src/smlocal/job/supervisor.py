"""The life of one job, from its record to its last status. The only place that knows all the rooms."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from smlocal.artifacts.collect import Artifacts
from smlocal.contract.metrics.metric_values import definitions_of
from smlocal.contract.outcome import failure_reason
from smlocal.contract.outcome.statuses import Ending, SecondaryStatus, StatusMessage, TrainingJobStatus
from smlocal.engine.interface import Engine
from smlocal.errors import ArtifactError, EngineError, HomeUnusableError, JobUnrecordedError, MachineNotReadyError
from smlocal.job import details
from smlocal.job.attempt import HOME_FULL, Attempt
from smlocal.job.context import Context, new_token
from smlocal.job.control.requests import Ear
from smlocal.job.control.stop_requests import StopRequests
from smlocal.job.decide.attempt_outcome import ending
from smlocal.job.decide.events import defect
from smlocal.job.decide.faults import FAULT, Faults
from smlocal.job.decide.restarts import Restart, RestartPolicy
from smlocal.job.finish.cleanup import clear_disk, clear_engine
from smlocal.job.finish.collect import collect_artifacts, give_back
from smlocal.job.finish.describe import JOB, LOCAL, PLAN, RECALL, REQUEST, describe_job
from smlocal.job.finish.disk_reserve import give_room, keep_room
from smlocal.job.finish.job_folder import DESCRIBE, keep
from smlocal.job.finish.local_block import local_block
from smlocal.job.finish.replaced import REPLACED, drop_replaced, old_artifacts, replaced_artifacts
from smlocal.job.finish.unpacked import keep as keep_unpacked
from smlocal.job.finish.unpacked import kept_directory
from smlocal.job.host.failure_file import read_failure
from smlocal.job.logs.log_paths import log_path, logged_by
from smlocal.job.metrics.metrics_search import MetricsReport, MetricsSearch
from smlocal.job.mirrored.checkpoints import save_mirrored, with_checkpoints_of_now
from smlocal.job.phases import Phases
from smlocal.job.prepare.prepare import Prepared
from smlocal.job.reporter import Reporter
from smlocal.planning.document import host_directory, plan_document
from smlocal.planning.model import JobPlan
from smlocal.planning.plan_changes import for_attempt
from smlocal.planning.recall import remember
from smlocal.quick_dataclass import dataclass
from smlocal.store.jobs import Store
from smlocal.store.lease import Lease
from smlocal.store.records import LeftOnEngine

if TYPE_CHECKING:
    from smlocal.artifacts.s3_publish import Published
    from smlocal.job.credential_endpoint import CredentialEndpoint

DISK_FULL = failure_reason.client_error("Artifact upload failed:Insufficient disk space")


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What became of a job, for the face that ran it."""

    answer: Mapping[str, Any]
    status: TrainingJobStatus
    signal: int | None
    """The signal that stopped it, where one did."""


def supervise(
    prepared: Prepared,
    *,
    engine: Engine,
    store: Store,
    reporter: Reporter,
    requests: StopRequests,
    owned: Callable[[], None] = lambda: None,
    replace: bool = False,
) -> Result:
    """Record the job, run it to its end, and return the final describe answer.

    `requests` is how the caller has it stopped: `StopSignals` in a process of its own, `StopRequests` in any thread.
    `owned` is called once the job is recorded and this process is its supervisor. `replace` forgets a finished job of
    the same name.
    """
    plan = prepared.plan
    shown = {REQUEST: dict(plan.request), PLAN: plan_document(plan)}
    ready = nullcontext() if prepared.credentials is None else prepared.credentials.ready()
    with requests, ready, _record(prepared, shown, store, requests, replace=replace):
        context = make_context(plan.name, engine=engine, store=store, reporter=reporter, signals=requests)
        supervisor = Supervisor(
            context=context, plan=plan, pull_refused=prepared.pull_refused, credentials=prepared.credentials
        )

        def live() -> None:
            directory = store.directory(plan.name)
            for kind, document in shown.items():
                keep(directory, kind, document)
            keep_room(directory)
            owned()
            reporter.planned(plan)
            supervisor.run()

        supervisor.guarded(live)
        answer = describe_job(store, plan.name)
        keep(store.directory(plan.name), DESCRIBE, answer)
    return Result(answer=answer, status=TrainingJobStatus(answer["TrainingJobStatus"]), signal=requests.received)


def make_context(job: str, *, engine: Engine, store: Store, reporter: Reporter, signals: StopRequests) -> Context:
    """What the supervisor of a recorded job works with."""
    return Context(
        job=job,
        engine=engine,
        store=store,
        reporter=reporter,
        events=signals.events,
        signals=signals,
        phases=Phases(store=store, job=job, reporter=reporter),
        ear=Ear(store=store, job=job, token=new_token()),
        created=store.get(job).created,
    )


def _record(
    prepared: Prepared, shown: Mapping[str, Any], store: Store, requests: StopRequests, *, replace: bool
) -> Lease:
    plan = prepared.plan
    replaced = old_artifacts(store, plan.name) if replace else {}
    return store.create(
        plan.name,
        run_id=plan.run_id,
        created=time.time(),
        documents={
            **shown,
            RECALL: remember(plan),
            JOB: prepared.job,
            **({REPLACED: replaced} if replaced else {}),
        },
        supervisor_pid=os.getpid(),
        message=StatusMessage.PREPARING,
        replace=replace,
        begin=requests.listen_in,
    )


@dataclass(kw_only=True, slots=True)
class Supervisor:
    """Takes one recorded job through its attempts to its end."""

    context: Context
    plan: JobPlan
    pull_refused: str | None = None
    renew: Callable[[], JobPlan] | None = None
    """Makes the whole plan anew where only a recalled one is at hand."""
    credentials: "CredentialEndpoint | None" = None
    """Where the containers get credentials, if they get any."""
    policy: RestartPolicy = field(default_factory=lambda: RestartPolicy(retries=0))
    attempt: Attempt = field(init=False)
    metrics: MetricsSearch = field(init=False)
    measured: MetricsReport = field(default_factory=MetricsReport)
    number: int = 1
    artifacts: Artifacts | None = None
    unpacked: bool = False
    """True when what the containers wrote could not be packed, and is kept for another try."""
    published: "Published | None" = None
    unsent: tuple[tuple[str, str], ...] = ()
    """What S3 did not take of what is mirrored there: the prefix, and the folder that has it."""
    notes: list[str] = field(default_factory=list)
    """What became of checkpoints, where it is worth a word."""
    leftovers: list[str] = field(default_factory=list)
    left_on_engine: bool = False
    """True when the last clean-up did not remove everything from the engine."""

    def __post_init__(self) -> None:
        self.policy.retries = self.plan.retries
        faults = Faults(planned=self.plan.faults, record=lambda index: self.context.record(FAULT, {"Index": index}))
        self.metrics = MetricsSearch(
            job_directory=self.plan.job_directory,
            definitions=definitions_of(self.plan.request),
            logs={host.host.name: log_path(self.plan.job_directory, host.host.name) for host in self.plan.hosts},
        )
        self.attempt = Attempt(
            context=self.context,
            plan=self.plan,
            faults=faults,
            credentials=self.credentials,
            on_running=self.metrics.begin,
        )

    def run(self) -> None:
        """Every attempt in turn, from the beginning."""
        self.context.phases.begin()
        self._live()

    def guarded(self, life: Callable[[], None]) -> None:
        """Live, and then finish: whatever goes wrong, the job ends in a terminal state and leaves nothing behind."""
        try:
            life()
        except HomeUnusableError as error:
            # The disk that holds the job is full: the containers' doing, as on an instance's volume.
            self.attempt.explanation = "; ".join([error.sentence, *error.details])
            reason = DISK_FULL if self.attempt.ran else HOME_FULL
            self.attempt.story = replace(self.attempt.story, failure_reason=reason)
        except (EngineError, MachineNotReadyError) as error:
            self.attempt.engine_failed(error)
        except Exception as error:
            self.attempt.story = replace(self.attempt.story, failure_reason=failure_reason.INTERNAL_ERROR)
            self.attempt.explanation = defect(error)
            raise
        finally:
            self.finish()

    def _live(self) -> None:
        self.attempt.download(self.pull_refused)
        if not self.attempt.over:
            self.attempt.train()
        self.after_training()

    def after_training(self) -> None:
        """Restart when the policy says so, else pack what there is."""
        self.attempt.strike_after()
        restart = self.policy.after(self.attempt.story)
        if restart is not None:
            self._restart(restart)
            self._live()
        elif self.attempt.ran:
            self._upload()

    def _restart(self, why: Restart) -> None:
        """Give everything up but the job itself: the next attempt begins with empty folders and its inputs anew."""
        old = self.attempt
        if old.ran and not old.engine_lost:
            with suppress(EngineError):  # the next attempt begins from what was saved before
                self._save_checkpoints(self.context.reporter.working)
        self._clear()
        if self.renew is not None:
            self.plan, self.renew = self.renew(), None
        self.plan = with_checkpoints_of_now(self.plan)
        self.number += 1
        logged = {host.host.name: logged_by(self.plan.job_directory, host.host.name) for host in self.plan.hosts}
        self.context.record("restart", {"Why": why, "Number": self.number, "Logged": logged})
        self.attempt = Attempt(
            context=self.context,
            plan=for_attempt(self.plan, self.number),
            faults=old.faults,
            hints=old.hints,
            credentials=self.credentials,
            on_running=self.metrics.begin,
        )
        self.context.phases.enter(SecondaryStatus.STARTING, StatusMessage.PREPARING)

    def _upload(self) -> None:
        """Pack what the containers wrote, after a failure or a stop too."""
        attempt = self.attempt
        phases = self.context.phases
        phases.enter(SecondaryStatus.UPLOADING, StatusMessage.UPLOADING, ended=attempt.story.failed)
        unsaved = None
        try:
            unsaved = self._save_checkpoints(self._uploading)
            self.unpacked = True
            self.artifacts, self.published = collect_artifacts(
                self.plan,
                attempt.runs.values(),
                self.context.engine,
                working=self._uploading,
                given_up=lambda: self.context.signals.repeated,
                replaces=[path for paths in self._replaced().values() for path in paths],
            )
            self.unpacked = False
            if unsaved is not None:
                self._blame_upload(unsaved, unsaved.remedy)
        except ArtifactError as error:
            kept = f"the job's output is kept in {kept_directory(self.plan)}"
            self._blame_upload(error, [kept, f"to pack it: smlocal pack {self.plan.name} --output DIR"])
        except EngineError as error:
            attempt.engine_failed(error)
        attempt.hear_late()
        self._judge_upload()
        phases.leave(
            details.uploaded(self.artifacts, self.published),
            good=self.artifacts is not None
            and unsaved is None
            and (self.published is None or self.published.failure is None),
        )

    def _uploading(self, text: str) -> None:
        """Said several times a second: a stop shows at once, though what was written is saved all the same."""
        stopped = self.attempt.story.stopped
        self.attempt.hear_late()
        publishes = self.plan.output.publish or self.plan.published_mirrors
        if self.attempt.story.stopped is not stopped and publishes:
            self.context.reporter.progress("the upload continues (Ctrl-C again to stop it)")
        if text:
            self.context.reporter.working(text)

    def _replaced(self) -> Mapping[str, list[str]]:
        return replaced_artifacts(self.context.store, self.plan.name)

    def _blame_upload(self, error: ArtifactError, remedy: Sequence[str]) -> None:
        attempt = self.attempt
        attempt.explanation = attempt.explanation or "; ".join([error.sentence, *error.details, *remedy])
        if not attempt.story.decided:
            attempt.story = replace(attempt.story, failure_reason=failure_reason.client_error(error.sentence))

    def _judge_upload(self) -> None:
        """What is not uploaded fails a job that would else be Completed; it stays on disk for another try."""
        published, story = self.published, self.attempt.story
        if published is None or not (published.failure or published.broken_off):
            return
        sentence = published.failure or "Artifact upload failed:it was interrupted"
        again = f"to try again: smlocal publish {self.plan.name}"
        self.notes.append(f"{sentence}; {again}")
        if not story.decided:
            self.attempt.explanation = self.attempt.explanation or again
            self.attempt.story = replace(story, failure_reason=failure_reason.client_error(sentence))

    def _save_checkpoints(self, working: Callable[[str], None]) -> ArtifactError | None:
        """Save what is mirrored; why that could not be done, if it could not."""
        hosts = [(run.host, run.container.id) for run in self.attempt.runs.values() if run.container.id]
        self.notes += self.attempt.mirrors.notes
        signals = self.context.signals
        engine = self.context.engine
        saved = save_mirrored(self.plan, hosts, engine, given_up=lambda: signals.repeated, working=working)
        self.notes += saved.notes
        self.unsent = saved.unsent
        return saved.error

    def finish(self) -> None:
        """Decide and write the decision down, clean up, and only then say that the job is over."""
        ended, reason = ending(self.attempt.story, self._failure_file())
        give_room(self.context.store.directory(self.plan.name))
        self.measured = self.metrics.finish()
        with suppress(HomeUnusableError):  # on a full disk there may be room only after the clean-up
            self._keep_decision(ended, reason)
        self._clear()
        with suppress(HomeUnusableError):
            self._drop_replaced(ended)
        self.context.phases.leave(good=ended.status is not TrainingJobStatus.FAILED)
        try:
            self._keep_decision(ended, reason)
            if self.left_on_engine:
                remember_left(self.context.store, self.plan)
            end_job(self.context.store, self.plan.name, ended, reason)
        except HomeUnusableError as error:
            raise JobUnrecordedError(
                f"the job '{self.plan.name}' has ended, but its record cannot be saved",
                details=[f"{ended.status}{f': {reason}' if reason else ''}", error.sentence, *error.details],
                remedy=[f"Free some space there, then: smlocal describe {self.plan.name}"],
            ) from error

    def _keep_decision(self, ended: Ending, reason: str | None) -> None:
        """A supervisor that dies while it cleans up leaves nothing to decide to the next."""
        self.context.store.put_document(self.plan.name, LOCAL, local_block(self, ended, reason))

    def _drop_replaced(self, ended: Ending) -> None:
        found = self.artifacts
        new = {} if found is None else {"Model": found.model, "Output": found.output}
        completed = ended.status is TrainingJobStatus.COMPLETED
        self.notes += drop_replaced(self.context.store, self.plan.name, new, completed=completed)

    def _clear(self) -> None:
        attempt, engine = self.attempt, self.context.engine
        if self.credentials is not None:
            self.credentials.close()  # or it would bring back what is cleared
        if not attempt.engine_lost:
            self.leftovers += give_back(attempt.runs.values(), engine)
        if self.unpacked:
            self.leftovers += keep_unpacked(self.plan)
            self.unpacked = os.path.isdir(kept_directory(self.plan))
        left = clear_engine(
            engine,
            self.plan.name,
            self.plan.run_id,
            engine_lost=attempt.engine_lost,
            given_up=lambda: self.context.signals.repeated,
        )
        self.leftovers += left
        self.left_on_engine = bool(left)
        attempt.delivery.close()
        self.leftovers += clear_disk(self.plan.job_directory)

    def _failure_file(self) -> bytes:
        run = self.attempt.runs.get(self.attempt.story.first_failure or "")
        if run is None:
            return b""
        directory = f"{host_directory(self.plan, run.host)}/output"
        return read_failure(directory, self.context.engine, run.container.id, here=self.plan.engine.local)


def remember_left(store: Store, plan: JobPlan) -> None:
    """Let whoever meets the job's engine next remove what may be left there."""
    store.remember_left(LeftOnEngine(run_id=plan.run_id, name=plan.name, engine=plan.engine.address))


def end_job(store: Store, name: str, ended: Ending, reason: str | None) -> None:
    """Say that a job is over."""
    store.transition(
        name,
        status=ended.status,
        secondary_status=ended.secondary,
        message=ended.message,
        at=time.time(),
        failure_reason=reason,
    )
