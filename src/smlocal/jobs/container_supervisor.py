"""Takes a recorded job with containers through its attempts, uploads what they wrote, and removes them."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.base.files import no_check, remove_tree
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.interface import Engine
from smlocal.errors import ArtifactError, EngineError, HomeUnusableError, MachineNotReadyError
from smlocal.jobs.attempt import Attempt, staging_failure
from smlocal.jobs.containers import FoundContainers
from smlocal.jobs.context import ContainerContext, upload_details
from smlocal.jobs.decide.attempt_outcome import RestartCause, RestartPolicy, Trouble
from smlocal.jobs.decide.events import ContainerExited, Faults
from smlocal.jobs.finish.describe import keeps_containers, mark_containers_kept, release_space
from smlocal.jobs.finish.results import Results, changed_files, local_block
from smlocal.jobs.history import CREDENTIALS, FAULT, RESTART, Past, read_past
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.kinds import BesideJob
from smlocal.jobs.logs.log_file import log_path, logged_by
from smlocal.jobs.planning.aspects.warm_pool.plan import WarmPoolPlan
from smlocal.jobs.planning.model import HostPlan, JobPlan, RecordedPlan
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import LeftOnEngine
from smlocal.jobs.store.resources import join, keep
from smlocal.jobs.supervisor import Supervisor
from smlocal.terms.statuses import (
    INTERNAL_ERROR,
    NO_CAPACITY,
    Ending,
    Failure,
    FailureKind,
    JobPhase,
    JobStatus,
    PhaseMessage,
    input_failure,
)

if TYPE_CHECKING:
    from smlocal.data.artifacts import atomic_write
    from smlocal.jobs.control.found_containers import hosts_with_containers
    from smlocal.jobs.credential_endpoint import CredentialEndpoint
    from smlocal.jobs.finish.artifacts import (
        collect_artifacts,
        delete_replaced,
        keep_unpacked,
        replaced_artifacts,
        restore_ownership,
        unpacked_directory,
    )
    from smlocal.jobs.finish.cleanup import clear_disk, clear_engines, kill_containers
    from smlocal.jobs.host import symptoms
    from smlocal.jobs.host.data_parallel import data_parallel_records
    from smlocal.jobs.metrics.job_metrics import MetricsSearch
    from smlocal.jobs.mirrored.folders import with_current_checkpoints
    from smlocal.jobs.mirrored.saving import (
        all_names,
        keep_not_saved,
        mark_ends,
        not_saved_document,
        remove_end_marker,
        save_mirrored,
    )
else:
    symptoms = at_use("smlocal.jobs.host.symptoms")
    atomic_write = at_use("smlocal.data.artifacts.atomic_write")
    data_parallel_records = at_use("smlocal.jobs.host.data_parallel", "data_parallel_records")
    hosts_with_containers = at_use("smlocal.jobs.control.found_containers", "hosts_with_containers")
    with_current_checkpoints = at_use("smlocal.jobs.mirrored.folders", "with_current_checkpoints")
    all_names = at_use("smlocal.jobs.mirrored.saving", "all_names")
    keep_not_saved = at_use("smlocal.jobs.mirrored.saving", "keep_not_saved")
    mark_ends = at_use("smlocal.jobs.mirrored.saving", "mark_ends")
    not_saved_document = at_use("smlocal.jobs.mirrored.saving", "not_saved_document")
    remove_end_marker = at_use("smlocal.jobs.mirrored.saving", "remove_end_marker")
    save_mirrored = at_use("smlocal.jobs.mirrored.saving", "save_mirrored")
    MetricsSearch = at_use("smlocal.jobs.metrics.job_metrics", "MetricsSearch")
    collect_artifacts = at_use("smlocal.jobs.finish.artifacts", "collect_artifacts")
    delete_replaced = at_use("smlocal.jobs.finish.artifacts", "delete_replaced")
    keep_unpacked = at_use("smlocal.jobs.finish.artifacts", "keep_unpacked")
    replaced_artifacts = at_use("smlocal.jobs.finish.artifacts", "replaced_artifacts")
    restore_ownership = at_use("smlocal.jobs.finish.artifacts", "restore_ownership")
    unpacked_directory = at_use("smlocal.jobs.finish.artifacts", "unpacked_directory")
    clear_disk = at_use("smlocal.jobs.finish.cleanup", "clear_disk")
    clear_engines = at_use("smlocal.jobs.finish.cleanup", "clear_engines")
    kill_containers = at_use("smlocal.jobs.finish.cleanup", "kill_containers")

_DISK_FULL = input_failure("Artifact upload failed:Insufficient disk space")


@dataclass(kw_only=True, slots=True)
class ContainerSupervisor(Supervisor):
    """Takes one recorded job with containers to its end.

    The hooks of `Supervisor`, and these:

    - `after_training` after an attempt: another one, or the upload;
    - `uploaded`: what the screen says of the upload;
    - `ignored_failure_files` of hosts that exited with 0;
    - `logged_before`: the part of each log that is of earlier containers.

    A kind that runs otherwise has for that: `begin_attempt`, `clear`, `reachable_runs`, `reopen_credentials`.
    """

    context: ContainerContext
    plan: JobPlan
    found: FoundContainers = field(default_factory=FoundContainers)
    """The containers of an earlier supervisor."""
    pull_refused: str | None = None
    plan_again: Callable[[], JobPlan] | None = None
    """Makes the complete plan, if `plan` is a recalled one."""
    credentials: "CredentialEndpoint | None" = None
    """Serves credentials to the containers, if they get any."""
    policy: RestartPolicy = field(default_factory=lambda: RestartPolicy(retries=0))
    attempt: Attempt = field(init=False)
    metrics: "MetricsSearch | None" = None
    """None for a job without metrics."""
    results: Results = field(default_factory=Results)
    ends_marked: bool = False
    """True once readers of the tensors have been told that no more follow."""
    rules: BesideJob | None = None
    """The debugger rules that are evaluated beside the job, once they have begun."""
    stops_in_training: int | None = None
    """How many stops were requested before the upload; None if nothing was uploaded yet."""
    left_on_engines: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The parts that the last clean-up could not remove, by the address of the engine."""

    def __post_init__(self) -> None:
        Supervisor.__post_init__(self)
        self.policy.retries = self.plan.stop.retries
        faults = Faults(
            planned=self.plan.faults.each, record=lambda index: self.context.record(FAULT, {"Index": index})
        )
        if self.plan.metrics:
            self.metrics = MetricsSearch(
                job_directory=self.plan.job_directory,
                definitions=self.plan.metrics,
                logs={host.host.name: log_path(self.plan.job_directory, host.host.name) for host in self.plan.hosts},
            )
        self._use_attempt(self.plan, faults, hints=[])

    def _use_attempt(self, plan: JobPlan, faults: Faults, hints: list[str]) -> None:
        self.attempt = self.course = Attempt(
            context=self.context,
            plan=plan,
            faults=faults,
            hints=hints,
            credentials=self.credentials,
            on_running=self.metrics.begin if self.metrics is not None else lambda: None,
        )

    def begin(self) -> None:
        """Start the debugger rules."""
        if not self.plan.mirrored.empty:
            remove_end_marker(self.plan, self.context.reporter.warning)
        self.begin_rules(first=True)

    def failed_by(self, error: HomeUnusableError | EngineError | MachineNotReadyError) -> None:
        """An engine is lost, or the disk is full. The containers filled it, as they may on the service."""
        if isinstance(error, HomeUnusableError):
            before_training, why = staging_failure(error)
            self.broken_off(_DISK_FULL if self.attempt.ran else before_training, why)
        else:
            self.attempt.engine_failed(error)
            self._break_off()

    def broken_off(self, failure: Failure, why: str | None) -> None:
        """Fail the job, unless its end is decided already, and keep what was written."""
        self.attempt.break_off(failure, why)
        self._break_off()

    def _break_off(self) -> None:
        """Kill containers that still run, and keep what was written."""
        plan, attempt = self.plan, self.attempt
        if not attempt.ran:
            return
        for address in self.context.engines.addresses:
            if address not in attempt.lost_engines:
                with suppress(EngineError, MachineNotReadyError):  # the clean-up reports it
                    kill_containers(self.context.engines.at(address), plan.name, plan.run_id, rules=False)
        self._keep_output()

    def _keep_output(self) -> None:
        """Let the clean-up keep what has not been packed or saved."""
        plan, results = self.plan, self.results
        if results.artifacts is not None:
            return
        if not results.unpacked and not plan.mirrored.empty:
            results.unsaved = all_names(plan)
        results.unpacked = bool(plan.folders.model or plan.folders.output_data)

    def begin_rules(self, *, first: bool) -> None:
        """Start the debugger rules, or watch on those that are there. `first`: the job begins."""
        self.rules = self.kind.begin_rules(self.plan, self.context, first=first)

    def run(self) -> None:
        """Run an attempt, and those that follow it."""
        if self.attempt.faults.no_machines():
            self.attempt.fail(NO_CAPACITY, "simulated by Local.Faults")
        else:
            if self.plan.warm_pool is not None:
                self._join_pool(self.plan.warm_pool)
            self.attempt.download(self.pull_refused)
        if not self.attempt.over:
            self.attempt.train()
        self.after_training()

    def _join_pool(self, pool: WarmPoolPlan) -> None:
        earlier = join(self.context.store, self.plan.name, self.plan.run_id, like=pool.like, seconds=pool.seconds)
        if earlier is not None:
            self.context.reporter.progress(f"in the warm pool of {earlier}")

    def after_training(self) -> None:
        """Start another attempt, or upload what there is."""
        self.attempt.simulate_fault_after_training()
        restart = self.policy.after(self.attempt.outcome)
        if restart is not None:
            self._restart(restart)
            self.run()
        elif self.attempt.ran:
            self._upload()

    def _restart(self, why: RestartCause) -> None:
        """Prepare the next attempt. It begins with empty folders, and its inputs are brought again."""
        old = self.attempt
        if old.ran and not old.engine_lost:
            self._read_as_user()
            with suppress(EngineError):  # then the next attempt begins from the earlier save
                self._save_mirrored(self.context.reporter.working, last=False)
        self.clear(rules=False)
        still_lost = self._unreachable() if old.engine_lost else None
        if self.plan.warm_pool is not None and self.plan.warm_pool.directory and still_lost is None:
            remove_tree(self.plan.warm_pool.directory)
        if self.plan_again is not None:
            self.plan, self.plan_again = self.plan_again(), None
        self.plan = with_current_checkpoints(self.plan)
        number = self.policy.attempts
        self.begin_attempt(self.kind.for_attempt(self.plan, number), why=why, number=number)
        if still_lost is not None:
            self.attempt.engine_failed(still_lost)

    def begin_attempt(self, plan: JobPlan, *, why: str, number: int) -> None:
        """Record that another attempt begins, and make it."""
        old = self.attempt
        logged = {host.host.name: logged_by(self.plan.job_directory, host.host.name) for host in self.plan.hosts}
        self.context.record(RESTART, {"Why": why, "Number": number, "Logged": logged})
        self._use_attempt(plan, old.faults, old.hints)
        self.context.phases.enter(JobPhase.STARTING, PhaseMessage.PREPARING)

    def _unreachable(self) -> EngineError | MachineNotReadyError | None:
        """The error of an engine that the clean-up could not reach, if it still cannot be."""
        for address in self.left_on_engines:
            try:
                self.context.engines.at(address).facts()
            except (EngineError, MachineNotReadyError) as error:
                return error
        return None

    def _upload(self) -> None:
        """Pack and publish what the containers wrote, after a failure or a stop too."""
        attempt, results, phases = self.attempt, self.results, self.context.phases
        if self.rules is not None:
            self.stops_in_training = self.rules.stops()
        release_space(self.context.store.directory(self.plan.name))  # what the containers wrote may fill the disk
        phases.enter(JobPhase.UPLOADING, PhaseMessage.UPLOADING, ended=attempt.outcome.failed)
        not_saved = None
        reachable = self.reachable_runs()
        self._read_as_user()
        try:
            not_saved = self._save_mirrored(self._report_upload, last=True)
            results.unpacked = True
            results.notes += [
                f"the output of {run.name} is on the engine at {run.host.engine}, which was lost"
                for run in attempt.runs.values()
                if run not in reachable
            ]
            replaced = replaced_artifacts(self.context.store, self.plan.name)
            results.artifacts, results.published = collect_artifacts(
                self.plan,
                reachable,
                working=self._report_upload,
                cancelled=self._cancelled,
                check=self._check_upload,
                replaces=[path for paths in replaced.values() for path in paths],
            )
            results.unpacked = False
            if self.plan.kept.changes:
                results.changes = changed_files(reachable)
            if self.plan.data_parallel is not None:
                results.data_parallel = data_parallel_records(self.plan, self._containers())
            if not_saved is not None:
                self._upload_failed(not_saved, [*not_saved.remedy, *self._kept_remedy()])
        except ArtifactError as error:
            kept = f"the job's output is kept in {unpacked_directory(self.plan)}"
            self._upload_failed(error, [kept, f"to pack it: smlocal pack {self.plan.name} --output DIR"])
        except atomic_write.PackingStoppedError:
            self._keep_output()
            results.notes.append(f"packing was stopped; to pack the job's output: smlocal pack {self.plan.name}")
        except EngineError as error:
            attempt.engine_failed(error)
            self._keep_output()
        attempt.handle_late_requests()
        self._check_published()
        published = results.published
        phases.leave(
            self.uploaded(),
            good=results.artifacts is not None
            and not_saved is None
            and (published is None or published.failure is None),
        )

    def _read_as_user(self) -> None:
        """Where the engine is not known to copy files, this user must be able to read what root has written."""
        if self.plan.engines.first.place is not None:
            self.results.leftovers += restore_ownership(self.reachable_runs())

    def _save_mirrored(self, working: Callable[[str], None], *, last: bool) -> ArtifactError | None:
        """Save the mirrored folders; returns the error if not all of them could be saved.

        `last`: no attempt follows.
        """
        if self.plan.mirrored.empty:
            return None
        self.results.notes += self.attempt.mirror_notes
        check = self._check_upload if last else no_check
        saved = save_mirrored(
            self.plan, self._containers(), last=last, cancelled=self._cancelled, check=check, working=working
        )
        if last:
            self.results.unsaved = saved.lost
        self.ends_marked = last and saved.error is None
        self.results.notes += saved.notes
        self.results.unsent = saved.unsent
        return saved.error

    def _report_upload(self, text: str) -> None:
        """Called several times a second."""
        self._handle_late_requests()
        if text:
            self.context.reporter.working(text)

    def _check_upload(self) -> None:
        """Called between pieces of long packing; `PackingStoppedError` once it should stop."""
        self._handle_late_requests()
        if self.attempt.hurried:
            raise atomic_write.PackingStoppedError

    def _handle_late_requests(self) -> None:
        """A stop is recorded at once, but everything is still saved, until it is requested again."""
        stopped = self.attempt.outcome.stopped
        self.attempt.handle_late_requests()
        if self.attempt.outcome.stopped is not stopped and not self.attempt.hurried:
            publishes = self.plan.output.publish or self.plan.mirrored.published
            what = "the upload" if publishes else "packing"
            self.context.reporter.progress(f"{what} continues (Ctrl-C again to stop it)")

    def _cancelled(self) -> bool:
        return self.context.stop_requests.repeated or self.attempt.hurried

    def _upload_failed(self, error: ArtifactError, remedy: Sequence[str]) -> None:
        attempt = self.attempt
        attempt.explanation = attempt.explanation or "; ".join([error.with_details, *remedy])
        if not attempt.outcome.decided:
            attempt.outcome = replace(attempt.outcome, failure=input_failure(error.sentence))

    def _kept_remedy(self) -> Sequence[str]:
        if not self.results.unsaved:
            return ()

        kept = not_saved_document(self.plan, self.results.unsaved).items()
        where = [f"the files that the containers wrote to {path} are kept in {folder}" for path, folder in kept]
        return [*where, f"to save it: smlocal pack {self.plan.name} --output DIR"]

    def _check_published(self) -> None:
        """An upload to S3 that failed makes the job fail. The files are kept for another try."""
        published, attempt = self.results.published, self.attempt
        if published is None or not (published.failure or published.cancelled):
            return
        sentence = published.failure or "Artifact upload failed:it was interrupted"
        again = f"to try again: smlocal publish {self.plan.name}"
        self.results.notes.append(f"{sentence}; {again}")
        if not attempt.outcome.decided:
            attempt.fail(input_failure(sentence), attempt.explanation or again)

    def gather(self) -> None:
        """The rules get some time, and readers of tensors are told that no more follow."""
        if not self.ends_marked and not self.plan.mirrored.empty:
            self.results.notes += mark_ends(self.plan, self._cancelled)
        if self.rules is not None:
            self._end_rules(self.rules)

    def complete(self, ended: Ending) -> None:
        """Add metrics, and what explains a failure or a missing model."""
        if ended.status is JobStatus.COMPLETED:
            self.results.failure_files = self.ignored_failure_files()
            self._explain_lost_model()
        if self.metrics is not None:
            self.results.metrics = self.metrics.finish()
        if self.attempt.ran and (ended.status is JobStatus.FAILED or self.context.reporter.verbose):
            self.results.docker_command = self.kind.docker_command(self.plan)
        if self.plan.warm_pool is not None:
            self._keep_pool()

    def clean_up(self, ended: Ending) -> None:
        """Remove the containers, unless they are kept, and the artifacts that new ones have replaced."""
        self.clear(keep=keeps_containers(self.plan, ended.status))
        with suppress(HomeUnusableError):
            self._delete_replaced(ended)

    def record_left(self) -> None:
        """The next smlocal that reaches the engines removes it."""
        remember_left(self.context.store, self.plan, self.left_on_engines)

    def _keep_pool(self) -> None:
        """Not after a failure that says nothing good of the machines. The next supervisor may repeat this."""
        failure = self.attempt.outcome.failure
        if failure is None or failure.kind not in {FailureKind.INTERNAL, FailureKind.CAPACITY}:
            with suppress(HomeUnusableError):
                keep(self.context.store, self.plan.name)

    def decide(self) -> tuple[Ending, str | None]:
        """How the job ends, and the reason in the platform's words."""
        return self.kind.ending(self.attempt.outcome, self._failure_file())

    def _end_rules(self, rules: BesideJob) -> None:
        """Give the rules some time for the last tensors, unless a stop is requested after the training."""
        before = rules.stops() if self.stops_in_training is None else self.stops_in_training

        def cancelled() -> bool:
            return self._cancelled() or rules.stops() > before

        with suppress(HomeUnusableError):
            rules.finish(self._report_upload, cancelled)
        self.attempt.hints += rules.hints()

    def _failure_file(self) -> bytes:
        run = self.attempt.runs.get(self.attempt.outcome.first_failure or "")
        return b"" if run is None else symptoms.failure_file(run)

    def uploaded(self) -> str:
        """What was uploaded, for the screen."""
        return upload_details(self.results.artifacts, self.results.published)

    def ignored_failure_files(self) -> dict[str, str]:
        """The failure files of hosts that exited with 0, which the platform ignores."""
        found = ((run.name, symptoms.failure_file(run)[: symptoms.MESSAGE_BYTES]) for run in self.reachable_runs())
        return {name: text.decode("utf-8", "replace") for name, text in found if text.strip()}

    def _explain_lost_model(self) -> None:
        """If there is no model, search the logs and the container for a model saved elsewhere."""
        artifacts = self.results.artifacts
        if artifacts is None or artifacts.model is not None or not self.plan.folders.model:
            return

        for run in self.reachable_runs():
            log = symptoms.log_tail(run)
            wrote = log or symptoms.wrote_elsewhere(run)
            hint = symptoms.ask_platform(run, Trouble.NO_MODEL, log) if wrote else None
            if hint is not None:
                self.attempt.hints.append(hint)
                return

    def block(self, ended: Ending, reason: str | None) -> dict[str, Any]:
        """The `Local` block of a job with containers."""
        return local_block(self.plan, self.attempt, self.results, policy=self.policy, ended=ended, reason=reason)

    def clear(self, *, keep: bool = False, rules: bool = True) -> None:
        """Remove what an attempt has left. `keep`: not its containers; `rules`: with those of the rules."""
        attempt, results = self.attempt, self.results
        if self.credentials is not None:
            self.credentials.close()  # first, because it would create removed files again
        if len(self.context.engines) > 1 or not attempt.engine_lost:
            failures = restore_ownership(self.reachable_runs())
            results.leftovers += [each for each in failures if each not in results.leftovers]
        if not attempt.engine_lost:
            self._move_kept()
        if keep and not attempt.engine_lost and mark_containers_kept(self.plan.job_directory):
            attempt.delivery.close()
            return
        not_given: dict[str, list[str]] = {}

        def give_back(engine: Engine) -> None:
            """Give the folders back to the user, which needs the containers."""
            kill_containers(engine, self.plan.name, self.plan.run_id, rules=rules)
            there = [run for run in attempt.runs.values() if run.engine is engine and run.container.id]
            for run in there or hosts_with_containers([engine], self.plan):
                not_given[run.name] = restore_ownership([run])

        self.left_on_engines = clear_engines(
            self.context.engines,
            self.plan.name,
            self.plan.run_id,
            engine_lost=attempt.engine_lost,
            cancelled=self._cancelled,
            rules=rules,
            first=give_back if attempt.engine_lost else lambda _: None,
        )
        for each in (*not_given.values(), *self.left_on_engines.values()):
            results.leftovers += each
        if attempt.engine_lost:
            self._move_kept()
        attempt.delivery.close()
        results.leftovers += clear_disk(self.plan.job_directory)

    def _move_kept(self) -> None:
        """Move what is kept out of the folders that are deleted. They must belong to the user."""
        results = self.results
        if results.unpacked:
            results.leftovers += keep_unpacked(self.plan)
            results.unpacked = os.path.isdir(unpacked_directory(self.plan))
        if results.unsaved:  # after the model, which may contain such a folder
            results.leftovers += keep_not_saved(self.plan, not_saved_document(self.plan, results.unsaved))

    def _delete_replaced(self, ended: Ending) -> None:
        artifacts = self.results.artifacts
        new = {} if artifacts is None else {"Model": artifacts.model, "Output": artifacts.output}
        completed = ended.status is JobStatus.COMPLETED
        self.results.notes += delete_replaced(self.context.store, self.plan.name, new, completed=completed)

    def resume(self, past: Past, phase: JobPhase) -> None:
        """Continue the attempt with the containers that were found."""
        attempt, found, grace = self.attempt, self.found, past.grace
        attempt.outcome = past.outcome
        if len(found.hosts) < len(self.plan.hosts):  # training had not begun, or containers were removed
            if not attempt.over:
                why = f"smlocal was killed or the machine stopped in phase {phase}"
                attempt.fail(INTERNAL_ERROR, why)
            self.after_training()
            return
        for host in attempt.plan.hosts:
            run = attempt.host_run(host)
            run.logged_before = past.logged.get(run.name, 0)
            run.take_over(found.hosts[run.name].id, running=found.hosts[run.name].running)
            run.complete_log(later=True)
        self.reopen_credentials()
        if not attempt.over and found.ended_with_the_engine:
            attempt.ran = True
            attempt.fail(INTERNAL_ERROR, "the engine was restarted while the job had no supervisor")
            self.after_training()
            return
        if self.plan.fed and not attempt.over:
            # Readers of FIFOs saw a false end of file when the first supervisor died.
            attempt.fail(INTERNAL_ERROR, "smlocal was killed while it streamed Pipe channels")
            grace = self.plan.stop.peer_grace
        # In the order in which they ended: it decides whose failure came first.
        ended = [
            ContainerExited(container=name, exit_code=host.state.exit_code, oom_killed=host.state.oom_killed)
            for name, host in sorted(found.hosts.items(), key=lambda item: item[1].state.finished_at)
            if not host.running
        ]
        attempt.resume_watching(past, ended, grace)
        for run in attempt.runs.values():
            run.complete_log()
        self.after_training()

    def reopen_credentials(self) -> None:
        """Serve credentials at the address that the containers know."""
        if self.credentials is None:
            return
        context = self.context
        recorded = [event.data for event in context.store.events(context.job) if event.kind == CREDENTIALS]
        if recorded and isinstance(recorded[-1], Mapping):
            self.credentials.reopen(recorded[-1])

    @classmethod
    def logged_before(cls, store: Store, name: str) -> Mapping[str, int]:
        """Bytes of each host's log from containers before the last one."""
        return read_past(store.events(name)).logged

    def reachable_runs(self) -> list[HostRun]:
        """All hosts; of a job on several engines, those whose engine is not lost."""
        runs, lost = self.attempt.runs.values(), self.attempt.lost_engines
        return [run for run in runs if not run.host.engine or run.host.engine not in lost]

    def _containers(self) -> list[tuple[HostPlan, str, Engine]]:
        """For each reachable host that has a container: the host, its container and its engine."""
        return [(run.host, run.container.id, run.engine) for run in self.reachable_runs() if run.container.id]


def remember_left(store: Store, plan: RecordedPlan, engines: Collection[str]) -> None:
    """Let the next smlocal that reaches one of these engines, by their addresses, remove the leftovers there."""
    for address in engines:
        store.record_leftovers(LeftOnEngine(run_id=plan.run_id, name=plan.name, engine=address))
