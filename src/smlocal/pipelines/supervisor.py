"""Leads an execution: begins the steps that may begin, takes over how they end, and stores both.

What a step makes has a name that follows from the execution, the step and the attempt. If a leader is killed, the next
one finds by these names what was made, and makes nothing twice.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import field, replace
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import counted, in_one_line
from smlocal.errors import JobUnknownError
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.decide.events import Event, KillAsked, StopAsked, Woken
from smlocal.jobs.documents import JOB, QUEUE, REQUEST
from smlocal.jobs.documents import LOCAL as LOCAL_BLOCK
from smlocal.jobs.history import Past
from smlocal.jobs.kinds import showing
from smlocal.jobs.logs.log_file import last_line
from smlocal.jobs.store.database import StoreChanges
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.submission.leading import LedJobs
from smlocal.jobs.submission.scheduler import JobStarter
from smlocal.jobs.supervisor import Supervisor
from smlocal.pipelines.callback_steps import Callbacks
from smlocal.pipelines.earlier_runs import EarlierRuns
from smlocal.pipelines.job_file import OUTPUT, QUEUE_URL, PipelineFile, recorded_file, settings_of_jobs
from smlocal.pipelines.known_values import KnownValues, execution_variables, may_use, parameter_values
from smlocal.pipelines.queue_messages import send_message
from smlocal.pipelines.running_stand_ins import RunningStandIns
from smlocal.pipelines.steps import Steps
from smlocal.sagemaker.pipelines.deciding import Execution, Start, State
from smlocal.sagemaker.pipelines.selecting import kept_from
from smlocal.sagemaker.pipelines.stored import (
    CALLBACK,
    CLIENT,
    STATE,
    STEP_OF,
    StoredStep,
    read_steps,
    state_document,
    step_document,
)
from smlocal.terms.statuses import COMPLETED, FAILED, STOPPED, Ending, JobPhase, PhaseMessage, StopCause

_PAUSES: Final = (0.004, 0.25)
"""Seconds between looks at the store. A look takes some microseconds; they are rare when nothing changes for long."""
_LIVELY: Final = 5.0
"""Seconds after a change in which the next one is soon seen."""
_ORPHANS_EVERY: Final = 2.0
"""Seconds between looks for jobs without a supervisor."""
_MOST_SHOWN: Final = 4
"""Running steps in the last line of the screen."""
_ABANDONED_SECONDS: Final = 60.0
"""Seconds for the jobs of steps to end when the execution breaks off."""


@dataclass(kw_only=True, slots=True)
class PipelineSupervisor(Supervisor):
    """Takes one recorded execution to its end."""

    recorded: Mapping[str, Any] = field(init=False)
    file: PipelineFile = field(init=False)
    execution: Execution = field(init=False)
    records: dict[str, StoredStep] = field(init=False)
    stored_state: Any = None
    """The state as it is stored."""
    stored_steps: dict[str, StoredStep] = field(default_factory=dict)
    """Each step as it is stored."""

    def __post_init__(self) -> None:
        Supervisor.__post_init__(self)
        store, name = self.context.store, self.plan.name
        self.recorded = store.document(name, JOB)
        self.file = recorded_file(self.recorded)
        self.records = read_steps(store, name)
        self.stored_steps = dict(self.records)

    def run(self) -> None:
        """Run the steps."""
        self.context.phases.enter(JobPhase.TRAINING, PhaseMessage.TRAINING, started=True)
        self._lead(stopping=False, grace=None)

    def resume(self, past: Past, phase: JobPhase) -> None:
        """Go on for a leader that was killed at any moment."""
        self.course.outcome = past.outcome
        if phase in {JobPhase.STARTING, JobPhase.PENDING}:
            self.context.phases.enter(JobPhase.TRAINING, PhaseMessage.TRAINING, started=True)
        self._lead(stopping=past.outcome.stopped is not None, grace=past.grace)

    def decide(self) -> tuple[Ending, str | None]:
        """How the execution ends, and why."""
        outcome = self.course.outcome
        if outcome.failure is not None:
            return self.kind.ending(outcome, b"")
        status = self.execution.status
        if status == "Stopped":
            return STOPPED[outcome.stopped or StopCause.REQUEST], None
        return (FAILED, self.execution.reason) if status == "Failed" else (COMPLETED, None)

    # Leading.

    def _lead(self, *, stopping: bool, grace: float | None) -> None:
        store = self.context.store
        with JobStarter(store.home) as starter, StoreChanges(store.home) as changes, ExitStack() as stack:
            steps = self._steps(starter, stack)
            steps.grace = grace
            self._take_over(steps, stopping=stopping)
            try:
                self._go(steps, changes)
            except Exception:  # such as a full disk, or a bug: the jobs are not wanted any more
                with suppress(Exception):
                    self._abandon(steps)
                raise
        self.context.phases.leave(self._said(), good=self.execution.status != "Failed")

    def _steps(self, starter: JobStarter, stack: ExitStack) -> Steps:
        context, store, arn = self.context, self.context.store, self.plan.identity.arn
        self.execution = self._execution()
        jobs = LedJobs(
            store=store,
            starter=starter,
            leader=self.plan.name,
            arn=arn,
            run_id=self.plan.run_id,
            kind=STEP_OF,
            limit=self._limit(),
        )
        client = self._client()
        known = KnownValues(
            definition=self.file.definition,
            parameters=parameter_values(self.file),
            execution=execution_variables(self.file, arn, context.created),
            steps=self.records,
            buckets=client.get("Buckets") or f"{store.home}/buckets",
        )

        def make_maker() -> Any:
            starter.warm_up()  # while this process imports
            from smlocal.pipelines.making_here import open_maker  # the endpoint; some executions make nothing

            return stack.enter_context(
                open_maker(
                    store,
                    identity=self.plan.identity,
                    client=client,
                    local=settings_of_jobs(self.file.document.data.get(LOCAL) or {}),
                    directory=self.file.document.directory,
                    artifacts=self.recorded.get(OUTPUT),
                    instances=self._limit(),
                    log=context.reporter.progress,
                )
            )

        return Steps(
            execution=self.execution,
            known=known,
            jobs=jobs,
            runs=EarlierRuns(store=store, execution_arn=arn),
            execution_id=self.file.execution_id,
            make_maker=make_maker,
            stand_ins=RunningStandIns(
                stand_ins=self.file.definition.stand_ins,
                folder=self.file.document.directory,
                logs=os.path.join(store.directory(self.plan.name), "logs"),
                home=store.home,
                of_client=bool(client),
                wake=lambda: context.events.put(Woken()),
            ),
            callbacks=Callbacks(
                store=store,
                job=self.plan.name,
                run_id=self.plan.run_id,
                arn=arn,
                queue=(self.file.document.data.get(LOCAL) or {}).get(QUEUE_URL),
                send=lambda queue, message: send_message(queue, message, region=self.plan.identity.region),
                say=context.reporter.progress,
            ),
            reporter=context.reporter,
            sources={
                uri: os.path.join(self.file.document.directory, path) for uri, path in self.file.local.Sources.items()
            },
            sees_contents=self.file.contents,
            client=client,
        )

    def _limit(self) -> int | None:
        limit: int | None = (self.context.store.document(self.plan.name, QUEUE) or {}).get("Instances")
        return limit

    def _execution(self) -> Execution:
        """With what is known of its steps: from this execution, or from that whose results it uses."""
        selected = None
        kept = {name: step.progress for name, step in self.records.items()}
        config = self.file.start.get("SelectiveExecutionConfig")
        if config is not None:
            selected = [each["StepName"] for each in config["SelectedSteps"]]
            source = config.get("SourcePipelineExecutionArn")
            if source is not None:
                kept = {**self._kept_from(source, selected), **kept}
        return Execution(
            self.file.definition,
            parallel=self._parallel(),
            kept=kept,
            selected=selected,
        )

    def _parallel(self) -> int | None:
        """How many steps may run at once; UpdatePipelineExecution changes the recorded request."""
        request = self.context.store.document(self.plan.name, REQUEST)
        given = [each.get("ParallelismConfiguration") for each in (request, self.file.definition.request)]
        return next((each["MaxParallelExecutionSteps"] for each in given if each), None)

    def _kept_from(self, source: str, selected: list[str]) -> dict[str, Any]:
        store = self.context.store
        try:
            steps = read_steps(store, store.name_of(source))
        except JobUnknownError:  # removed since: an earlier leader has stored what is needed of it
            return {}
        progress = {name: step.progress for name, step in steps.items()}
        kept = kept_from(self.file.definition, selected, progress, source)
        for name, each in kept.items():
            step = steps[name]
            folders = step.folders if may_use(step.folders, self._client()) else {}
            self.records.setdefault(name, replace(step, listed=replace(step.listed, progress=each), folders=folders))
        return kept

    def _client(self) -> Mapping[str, Any]:
        """The rights of the client that has started the execution; empty if the user has."""
        return self.context.store.document(self.plan.name, CLIENT) or {}

    def _take_over(self, steps: Steps, *, stopping: bool) -> None:
        """Go on with what an earlier leader has begun."""
        now = time.time()
        items = (self.context.store.document(self.plan.name, STATE) or {}).get("Items", {})
        for name, values in items.items():
            steps.items[name] = values
            if self.execution.progress[name].state in {State.STARTING, State.EXECUTING, State.STOPPING}:
                self.execution.expanded(name, values, now)
        steps.reopen()
        for name, progress in list(self.execution.progress.items()):
            if progress.state is State.STARTING and progress.attempts:  # it may not have been made
                steps.begin(Start(step=name, attempt=progress.attempts))
        if stopping:
            self._stop(steps, again=True)
            if steps.grace == 0:
                steps.kill()

    def _go(self, steps: Steps, changes: StoreChanges) -> None:
        for request in self.context.stored_requests.read():
            self._handle(request, steps)
        looked = changed = 0.0
        while True:
            orphans = time.monotonic() - looked >= _ORPHANS_EVERY
            looked = time.monotonic() if orphans else looked
            seen = changes.number()
            happened = steps.look(orphans=orphans)
            while actions := self._next(steps):
                for action in actions:
                    steps.begin(action)
                    happened += 1
            self._store(steps)
            if self.execution.is_over:
                return
            self.context.reporter.working(self._so_far())
            changed = time.monotonic() if happened else changed
            lively = time.monotonic() - changed < _LIVELY
            self._wait(steps, changes, seen, _PAUSES[0] if lively else _PAUSES[1])

    def _next(self, steps: Steps) -> list[Start]:
        steps.end_for_each()
        return [action for action in self.execution.actions(time.time()) if isinstance(action, Start)]

    def _wait(self, steps: Steps, changes: StoreChanges, seen: int, pause: float) -> None:
        """Until a request, a change of the store, or the next look."""
        until = time.monotonic() + _PAUSES[1]
        while (left := until - time.monotonic()) > 0 and changes.number() == seen:
            event = self.context.events.next(min(pause, left))
            if event is not None:
                for request in self.context.stored_requests.read():
                    self._handle(request, steps)
                self._handle(event, steps)
                return

    def _handle(self, event: Event | Woken, steps: Steps) -> None:
        outcome = self.course.outcome
        if isinstance(event, KillAsked):
            self._stop(steps)
            steps.kill()
        elif isinstance(event, Woken):
            self.execution.limit_to(self._parallel())
        elif isinstance(event, StopAsked):
            steps.grace = event.grace
            if outcome.stopped is None:
                grace = self.file.local.StopGraceSeconds if event.grace is None else event.grace
                self.context.record_stop(event.cause, grace)
                self.context.reporter.stopping(event.cause, grace)
                self.course.outcome = replace(outcome, stopped=event.cause)
            self._stop(steps)
            if event.grace == 0:
                steps.kill()

    def _stop(self, steps: Steps, *, again: bool = False) -> None:
        for action in self.execution.stop(time.time(), again=again):
            steps.stop(action.step)
        self._store(steps)

    def _abandon(self, steps: Steps) -> None:
        """Stop what runs, and read how it ends."""
        self._stop(steps)
        steps.kill()
        until = time.monotonic() + _ABANDONED_SECONDS
        while not self.execution.is_over and time.monotonic() < until:
            steps.look(orphans=False)
            time.sleep(_PAUSES[1])

    # Storing.

    def _store(self, steps: Steps) -> None:
        """Store what has changed, in one transaction."""
        progress = self.execution.progress
        for name, step in self.records.items():
            if name in progress and step.progress is not progress[name]:
                self.records[name] = replace(step, listed=replace(step.listed, progress=progress[name]))
        changed = {name: step for name, step in self.records.items() if self.stored_steps.get(name) is not step}
        state = state_document(
            self.records, steps.items, status=self.execution.status, stopping=self.execution.stopping
        )
        if not changed and state == self.stored_state:
            return
        documents = {step_document(name): step.document() for name, step in changed.items()}
        self.context.store.put_documents(self.plan.name, {STATE: state, **documents})
        self.stored_state = state
        self.stored_steps.update(changed)

    def clean_up(self, ended: Ending) -> None:
        """No token leads to an execution that has ended, however it has."""
        store = self.context.store
        for each in store.resources(CALLBACK):
            if each.body["Job"] == self.plan.name:
                store.change_resource(CALLBACK, each.name, lambda _: None, at=time.time())
        Supervisor.clean_up(self, ended)

    def more_results(self) -> dict[str, Any]:
        """Which step failed first, and why."""
        failed = [(name, step.progress) for name, step in self.records.items() if step.progress.state is State.FAILED]
        if not failed:
            return {}
        name, first = min(failed, key=lambda each: each[1].ended or 0.0)
        more = f"; {len(failed) - 1} more failed" if len(failed) > 1 else ""
        cause, hints = "", list[str]()
        if job := self.records[name].job:
            with suppress(JobUnknownError):  # it was removed
                cause, hints = _why_it_failed(self.context.store, job)
        return {"Explanation": f"{name}: {cause or in_one_line(first.reason) or 'failed'}{more}", "Hints": hints}

    def _counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for step in self.records.values():
            state = step.progress.state.value
            counts[state] = counts.get(state, 0) + 1
        return counts

    def _so_far(self) -> str:
        """What runs, and how many steps have ended."""
        now, running = time.time(), list[str]()
        ended = 0
        for name, step in self.records.items():
            progress = step.progress
            ended += progress.ended is not None
            if progress.began is not None and progress.ended is None:
                running.append(f"{name} {now - progress.began:.0f} s")
        shown = [*running[:_MOST_SHOWN], *([f"{len(running) - _MOST_SHOWN} more"] * (len(running) > _MOST_SHOWN))]
        return " · ".join([f"{ended:,} of {counted(len(self.execution.steps), 'step')}", *shown])  # names may be cut

    def _said(self) -> str:
        known = self.file.definition.steps.values()
        left = 0  # those in branches and bodies may rightly not have begun
        if "SelectiveExecutionConfig" not in self.file.start:
            left = sum(each.parent is None and each.name not in self.records for each in known)
        counts = [*_spoken(self._counts()), *([f"{left:,} not begun"] if left else [])]
        return ", ".join(counts) or "no step has begun"


def _why_it_failed(store: Store, job: str) -> tuple[str, list[str]]:
    """Why the job of a step failed if its reason does not say it, from a hint or its log; and its hints."""
    record, local = store.get(job), store.document(job, LOCAL_BLOCK) or {}
    hints = [str(each) for each in local.get("Hints", ())]
    reason = record.failure_reason or ""
    if showing(record.platform).cause(record, local) == in_one_line(reason):
        return "", hints  # the reason of the step has it, in the service's words
    said = local.get("Explanation") or next(iter(hints), "")
    host = local.get("FailedHost")
    line = "" if said or host is None else last_line(store.directory(job), host)
    if line:
        return f"{reason.rpartition(', ')[2]}, last line: {line}", hints
    return said, hints


def _spoken(counts: Mapping[str, int]) -> Iterator[str]:
    for state in State:
        if state.value in counts:
            yield f"{counts[state.value]:,} {state.value.lower()}"


SUPERVISOR: Final = PipelineSupervisor
