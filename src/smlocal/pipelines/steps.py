"""The steps of an execution while it runs: what each does when it begins, and how it ends."""

import time
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import JobUnknownError
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.documents import JOB
from smlocal.jobs.finish.describe import describe_job
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.submission.leading import LedJobs
from smlocal.jobs.view import Reporter
from smlocal.pipelines.callback_steps import Callbacks
from smlocal.pipelines.contents import contents_of
from smlocal.pipelines.earlier_runs import EarlierRuns, cache_document
from smlocal.pipelines.known_values import KnownValues, may_use, written_folders
from smlocal.pipelines.making import Maker, RefusedError
from smlocal.pipelines.running_stand_ins import RunningStandIns
from smlocal.sagemaker import kinds
from smlocal.sagemaker.contract.outcome import reasons
from smlocal.sagemaker.pipelines.cache import ask_cache, cache_keys
from smlocal.sagemaker.pipelines.conditions import all_hold
from smlocal.sagemaker.pipelines.deciding import End, Execution, Start, State
from smlocal.sagemaker.pipelines.definition import Step
from smlocal.sagemaker.pipelines.expressions import is_expression
from smlocal.sagemaker.pipelines.for_each import for_each_answer, items_of
from smlocal.sagemaker.pipelines.listing import Listed
from smlocal.sagemaker.pipelines.names import SUFFIX_LENGTH, letters_of, made_name
from smlocal.sagemaker.pipelines.retries import INTERNAL_ERROR, failed_reason, refused_reason
from smlocal.sagemaker.pipelines.step_types import ADDRESSES, JOB_VARIABLES
from smlocal.sagemaker.pipelines.stored import STEP_OF, StoredStep
from smlocal.sagemaker.pipelines.values import ValueUnknownError, as_far_as_known, evaluate, printed
from smlocal.terms.statuses import JobStatus

_JOBS: Final = {
    "Training": kinds.TRAINING.name,
    "Processing": kinds.PROCESSING.name,
    "Transform": kinds.TRANSFORM.name,
    "Tuning": kinds.TUNING.name,
}
"""The types of steps that make jobs, and the kinds of these."""
_CAPACITY_ERROR: Final = "SageMaker.CAPACITY_ERROR"
_NOT_FOR_CLIENTS: Final = "what earlier runs have written lies where clients of this server may not read"


@dataclass(kw_only=True, slots=True)
class Steps:
    """Of one execution."""

    execution: Execution
    known: KnownValues
    jobs: LedJobs
    runs: EarlierRuns
    execution_id: str
    make_maker: Callable[[], Maker]
    stand_ins: RunningStandIns
    callbacks: Callbacks
    items: dict[str, list[Any]] = field(default_factory=dict)
    """Of each ForEach."""
    reporter: Reporter
    sources: Mapping[str, str]
    """`Local.Sources`, with absolute paths."""
    sees_contents: bool
    """True if the cache looks at what lies in folders, too."""
    client: Mapping[str, Any] = field(default_factory=dict)
    """The rights of the client that has started the execution; empty if the user has."""
    grace: float | None = None
    """Of the stop that was asked for."""
    _maker: Maker | None = None

    @property
    def maker(self) -> Maker:
        """Made when the first step needs it: it imports the endpoint."""
        if self._maker is None:
            self._maker = self.make_maker()
        return self._maker

    @property
    def records(self) -> dict[str, StoredStep]:
        """What is stored of each step."""
        return self.known.steps

    # What a step does when it begins.

    def begin(self, action: Start) -> None:
        """Begin an attempt of a step. Whatever is wrong with it fails the step."""
        name = action.step
        step = self.execution.steps[name]
        if name not in self.records:
            self.records[name] = StoredStep(listed=Listed.of(step, self.execution.progress[name]))
        try:
            self._begin(step)
        except (ValueUnknownError, RefusedError) as error:  # the second: what was made is gone again
            self._end(step, End(state=State.FAILED, reason=f"ClientError: {error}"))

    def _begin(self, step: Step) -> None:
        kind = step.type.name
        variables = {JOB_VARIABLES[kind]: self.made(step)} if kind in JOB_VARIABLES else {}
        known = self.known.now(self.execution.progress[step.name].iteration, **variables)
        if kind == "ForEach":
            self.items[step.name] = items_of(step, known)
            self._note(step, arguments={"IterableItems": self.items[step.name]})
            self.execution.expanded(step.name, self.items[step.name], time.time())
        elif kind == "Condition":
            self._note(step, arguments={"Conditions": as_far_as_known(step.arguments["Conditions"], known)})
            outcome = all_hold(step.arguments["Conditions"], known)
            answer = {"Outcome": outcome}
            self._end(step, End(state=State.SUCCEEDED, outcome=outcome), answer=answer)
        elif kind == "Fail":
            reason = printed(evaluate(step.arguments.get("ErrorMessage", ""), known))
            self._note(step, arguments={"ErrorMessage": reason})
            self._end(step, End(state=State.FAILED, reason=reason), answer={"ErrorMessage": reason})
        else:
            arguments = evaluate(dict(step.arguments), known)
            self._note(step, arguments=arguments)
            step = self._addressed(step)
            if self.stand_ins.has(step):
                self.stand_ins.begin(step, arguments)
                self.execution.started(step.name)
                self._note(step, note=self.stand_ins.spoken(step))
            elif kind == "Callback":
                self._note(step, waits=self.callbacks.begin(step, arguments))
                self.execution.started(step.name, self.callbacks.metadata(self.records[step.name]))
            elif kind == "Cleanup":
                self._clean(step, arguments)
            elif not self._from_cache(step, arguments):
                self._make(step, arguments)

    def _from_cache(self, step: Step, arguments: Mapping[str, Any]) -> bool:
        """Use the result of an earlier execution, if there is one; else note why there is none."""
        cached = bool(step.type.keys) and step.cache is not None and step.cache.enabled
        runs = self.runs.of(step.name) if cached else {}
        found = {arn: run for arn, run in runs.items() if may_use(run[1].folders, self.client)}
        contents = None
        if cached and self.sees_contents:
            contents = contents_of(cache_keys(step, arguments), self._path_of)
            self._note(step, contents=contents)
        earlier = [each for each, _ in found.values()]
        answer = ask_cache(step, arguments, earlier, time.time(), contents=contents)
        if runs and not found:
            answer = replace(answer, why=_NOT_FOR_CLIENTS)
        self._note(step, cache=cache_document(answer))
        if answer.source is None:
            return False
        _, stored = found[answer.source]
        self._note(step, folders=stored.folders, job=stored.job)
        end = End(state=State.SUCCEEDED, cached=answer.source, metadata=stored.progress.metadata)
        self._end(step, end, answer=stored.answer)
        return True

    def _path_of(self, uri: str) -> str:
        """Where a location is on this machine."""
        return self.known.path_of(uri, {**self.known.folders(), **self.sources})

    def _make(self, step: Step, arguments: Mapping[str, Any]) -> None:
        attempt = self.execution.progress[step.name].attempts
        by = {"Arn": self.jobs.arn, "Name": self.jobs.leader, "Run": self.jobs.run_id}
        with_job = {STEP_OF: {**by, "Step": step.name, "Attempt": attempt}}
        try:
            name, arn = self.maker.make(
                step.type, arguments, name=self.made(step), sources=self.known.folders(), with_job=with_job
            )
        except RefusedError as error:
            arn = self.jobs.arn
            reason = refused_reason(step, str(error), exception=error.exception, execution_arn=arn)
            self._end(step, End(state=State.FAILED, reason=reason, exception=error.exception))
            return
        self._note(step, job=name)
        self.execution.started(step.name, {step.type.metadata: {"Arn": arn}})
        if step.type.name in _JOBS:
            self.jobs.start(name, _JOBS[step.type.name])
            self.reporter.step_changed(step.name, "Starting", None, name)
        elif step.type.name != "Endpoint":
            self._end(step, End(state=State.SUCCEEDED), answer=self.maker.describe(step.type, name))

    def _addressed(self, step: Step) -> Step:
        """The step with the ARN or the URL, beside its arguments, that it is for."""
        asked = {name: each for name, each in step.given.items() if name in ADDRESSES and is_expression(each)}
        if not asked:
            return step
        known = self.known.now(self.execution.progress[step.name].iteration)
        return replace(step, given={**step.given, **evaluate(asked, known)})

    def _clean(self, step: Step, arguments: Mapping[str, Any]) -> None:
        from smlocal.pipelines.cleaning import clean  # for few executions

        outcome = clean(arguments["Resources"]["S3"], self.records)
        why = "; ".join(f"{each['StepName']}: {each['ErrorMessage']}" for each in outcome["FailedSteps"])
        state = State.FAILED if why else State.SUCCEEDED
        reason = failed_reason(why) if why else ""
        self._end(step, End(state=state, reason=reason, metadata={"Cleanup": outcome}), answer=outcome)

    def made(self, step: Step) -> str:
        """The name of what the present attempt of a step makes."""
        attempt = self.execution.progress[step.name].attempts
        text = f"{self.execution_id}/{self.jobs.run_id}/{step.name}/{attempt}"
        return made_name(step, execution_id=self.execution_id, suffix=letters_of(text, SUFFIX_LENGTH))

    def reopen(self) -> None:
        """An earlier leader was killed: containers that run may use the S3 that it has answered."""
        running = [
            self.made(self.execution.steps[name])
            for name, progress in self.execution.progress.items()
            if progress.state in {State.EXECUTING, State.STOPPING}
        ]
        jobs = self.jobs.store.jobs_with(JOB, running) if running else ()
        if any("s3" in ((job["Data"].get(LOCAL) or {}).get("Endpoints") or {}) for _, job in jobs):
            self.maker.reopen()

    # How a step ends.

    def look(self, *, orphans: bool) -> int:
        """Take over what has happened to what runs; returns how many steps have ended."""
        ended = 0
        for name, progress in list(self.execution.progress.items()):
            if progress.state not in {State.STARTING, State.EXECUTING, State.STOPPING} or progress.retry_at is not None:
                continue
            ended += self._look_at(self.execution.steps[name], orphans=orphans)
        return ended

    def _look_at(self, step: Step, *, orphans: bool) -> bool:
        """True if the step has ended."""
        kind = step.type.name
        if self.stand_ins.has(step):
            found = self.stand_ins.look(self._addressed(step), self.records[step.name].arguments)
            if found is not None:
                self._end(step, found.end, answer=found.answer)
            return found is not None
        if kind == "Callback":
            answered = self.callbacks.look(self.records[step.name], self.execution.progress[step.name].state)
            if answered is not None:
                self._end(step, answered.end, answer=answered.answer)
            return answered is not None
        if kind == "Endpoint":
            return self._look_at_endpoint(step)
        if kind not in _JOBS:
            return False
        record = self.jobs.look(self.made(step), orphans=orphans)
        if record is not None and not record.status.terminal:
            return False
        self._end_with_job(step, record)
        return True

    def _look_at_endpoint(self, step: Step) -> bool:
        name = self.records[step.name].arguments.get(step.type.named) or self.made(step)
        try:
            answer = self.maker.describe(step.type, name)
        except RefusedError as error:
            self._end(step, End(state=State.FAILED, reason=f"ClientError: {error}"))
            return True
        if answer["EndpointStatus"] == "InService":
            self._end(step, End(state=State.SUCCEEDED), answer=answer)
        elif answer["EndpointStatus"] == "Failed":
            self._end(step, End(state=State.FAILED, reason=failed_reason(answer.get("FailureReason", ""))))
        return answer["EndpointStatus"] in {"InService", "Failed"}

    def _end_with_job(self, step: Step, record: JobRecord | None) -> None:
        if record is None:
            self._end(step, End(state=State.FAILED, reason=f"ClientError: the job {self.made(step)} was removed"))
            return
        if record.status is JobStatus.STOPPED:
            self._end(step, End(state=State.STOPPED))
            return
        if record.status is JobStatus.FAILED:
            reason = record.failure_reason or ""
            self._end(step, End(state=State.FAILED, reason=failed_reason(reason), exception=_exception(reason)))
            return
        store = self.jobs.store
        try:
            answer = describe_job(store, record.name, service=True)
            if step.type.name == "Tuning":
                objective = record_objective(answer)
                answer = {**answer, "TrainingJobSummaries": self.maker.trials(record.name, objective)}
            self._note(step, folders=written_folders(store, record.name))
        except (JobUnknownError, RefusedError):  # removed in this moment
            self._end_with_job(step, None)
            return
        self._end(step, End(state=State.SUCCEEDED), answer=answer)

    def end_for_each(self) -> None:
        """Note the answer of each ForEach that has ended: the execution ends it with its last child."""
        for name in self.items:
            progress, record = self.execution.progress[name], self.records[name]
            if progress.state is not State.SUCCEEDED or record.answer is not None:
                continue
            step = self.execution.steps[name]
            iterations: list[dict[str, Any]] = [{} for _ in self.items[name]]
            for child in self.execution.children(name):
                body, _, index = child.rpartition("-")
                iterations[int(index)][body] = self.records[child].answer
            counts = progress.metadata.get("ForEach", {})
            try:
                answer, metadata = for_each_answer(step, counts, iterations)
                self.execution.describe_for_each(name, metadata)
            except ValueUnknownError as error:  # a step that refers to the selected one says so too
                self.reporter.progress(f"{name}: {error}")
                answer = {**counts, "IterationOutputs": iterations}
            self._note(step, answer=answer)

    def stop(self, name: str) -> None:
        """Stop what a step runs, as `Stop…Job` does."""
        step = self.execution.steps[name]
        if self.stand_ins.has(step):
            self.stand_ins.stop(step)
        elif step.type.name == "Callback":
            self._note(step, waits=self.callbacks.stop(self.records[name]))
        elif step.type.name in _JOBS:
            self.jobs.stop(self.made(step), self.grace)

    def kill(self) -> None:
        """Wait for nothing any more."""
        self.stand_ins.kill()
        for name, progress in list(self.execution.progress.items()):
            if progress.state is not State.STOPPING:
                continue
            step = self.execution.steps[name]
            if step.type.name in _JOBS and not self.stand_ins.has(step):
                self.jobs.stop(self.made(step), 0)
            elif step.type.name in {"Callback", "Endpoint"}:
                self._end(step, End(state=State.STOPPED))

    def _end(self, step: Step, end: End, *, answer: Mapping[str, Any] | None = None) -> None:
        if answer is not None:
            self._note(step, answer=answer)
        if step.type.name == "Callback":
            self.callbacks.forget(self.records[step.name])
        self.execution.ended(step.name, end, time.time())
        progress = self.execution.progress[step.name]
        if progress.retry_at is not None:
            self.reporter.progress(f"{step.name} is tried again: {end.reason}")
        else:
            seconds = 0.0 if progress.began is None else time.time() - progress.began
            self.reporter.step_changed(step.name, progress.state.value, max(0.0, seconds), self._said(step, end))

    def _said(self, step: Step, end: End) -> str:
        """What is told of the end of a step."""
        if end.reason:
            return end.reason
        if end.cached:
            return f"from the cache: {end.cached.rpartition('/')[2]}"
        if end.outcome is not None:
            return "true" if end.outcome else "false"
        return self.stand_ins.spoken(step) if self.stand_ins.has(step) else ""

    def _note(self, step: Step, **more: Any) -> None:
        self.records[step.name] = replace(self.records[step.name], **more)


def _exception(reason: str) -> str:
    """What retry policies call the failure of a job."""
    if reason.startswith(reasons.NO_CAPACITY):
        return _CAPACITY_ERROR
    return INTERNAL_ERROR if reason.startswith(reasons.INTERNAL_ERROR) else ""


def record_objective(answer: Mapping[str, Any]) -> str:
    """Minimize or Maximize, of the answer about a tuning job."""
    config = answer.get("HyperParameterTuningJobConfig") or {}
    several = answer.get("TrainingJobDefinitions") or [answer.get("TrainingJobDefinition") or {}]
    given = several[0].get("TuningObjective") or config.get("HyperParameterTuningJobObjective") or {}
    return str(given.get("Type", "Minimize"))
