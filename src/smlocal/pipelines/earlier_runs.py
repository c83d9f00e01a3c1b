"""What earlier executions of a pipeline have left for the cache."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import JobUnknownError
from smlocal.errors.of_jobs import SelectedStepsError
from smlocal.jobs.store.jobs import Store
from smlocal.pipelines.job_file import PipelineFile
from smlocal.pipelines.known_values import execution_variables, parameter_values
from smlocal.sagemaker.pipelines.cache import CacheAnswer, Earlier, ask_cache
from smlocal.sagemaker.pipelines.selecting import needed_from_source, selection_trouble
from smlocal.sagemaker.pipelines.stored import STATE, StoredStep, read_steps, status_of, step_document, stored_step
from smlocal.sagemaker.pipelines.values import Known, ValueUnknownError, evaluate


@dataclass(kw_only=True, slots=True)
class EarlierRuns:
    """Of one pipeline."""

    store: Store
    execution_arn: str
    """Of the execution that asks, which is none of them."""
    _statuses: Mapping[str, str] | None = None
    """The status of each, by its ARN."""

    def of(self, step: str) -> dict[str, tuple[Earlier, StoredStep]]:
        """Each run of a step of this name, by the ARN of its execution."""
        if self._statuses is None:
            found = self.store.jobs_with(STATE)
            self._statuses = {
                record.arn: status_of(record, state) for record, state in found if self._counts(record.arn)
            }
        runs: dict[str, tuple[Earlier, StoredStep]] = {}
        for record, document in self.store.jobs_with(step_document(step)):
            if record.arn not in self._statuses:
                continue
            stored = stored_step(step, document)
            progress = stored.progress
            if progress.ended is not None and stored.arguments is not None and progress.cached is None:
                runs[record.arn] = (
                    Earlier(
                        execution=record.arn,
                        execution_status=self._statuses[record.arn],
                        step_status=progress.state.value,
                        ended=progress.ended,
                        type=stored.listed.type,
                        arguments=stored.arguments,
                        contents=stored.contents,
                    ),
                    stored,
                )
        return runs

    def _counts(self, arn: str) -> bool:
        pipeline = self.execution_arn.partition("/execution/")[0]
        return arn != self.execution_arn and arn.startswith(f"{pipeline}/execution/")


def cache_document(answer: CacheAnswer) -> dict[str, Any]:
    """What is stored of an answer of the cache."""
    if answer.source is not None:
        return {"Source": answer.source}
    changes = [{"Key": each.key, "Before": each.before, "After": each.after} for each in answer.changes]
    known = {"Why": answer.why, "Compared": answer.compared, "Changes": changes or None}
    return {name: value for name, value in known.items() if value is not None}


def expected_answers(file: PipelineFile, store: Store, execution_arn: str) -> dict[str, CacheAnswer]:
    """What the cache would say now about each step that is cached, as far as its arguments are known before it runs."""
    runs = EarlierRuns(store=store, execution_arn=execution_arn)
    variables = execution_variables(file, execution_arn, time.time())
    answers: dict[str, Mapping[str, Any]] = {}
    found: dict[str, CacheAnswer] = {}
    waiting = [step for step in file.definition.steps.values() if step.cache is not None and step.cache.enabled]
    while waiting:
        known = Known(parameters=parameter_values(file), execution=variables, answers=answers)
        later = []
        for step in waiting:
            try:
                arguments = evaluate(dict(step.arguments), known)
            except ValueUnknownError:
                later.append(step)
                continue
            earlier = runs.of(step.name)
            found[step.name] = ask_cache(step, arguments, [each for each, _ in earlier.values()], time.time())
            source = found[step.name].source
            if source is not None:
                answers[step.name] = earlier[source][1].answer or {}
        if len(later) == len(waiting):
            break
        waiting = later
    return found


# Selective execution: the steps that are not selected have the results of an earlier execution.

_SELECTIVE: Final = "SelectiveExecutionConfig"
_SOURCE: Final = "SourcePipelineExecutionArn"


def with_source(file: PipelineFile, store: Store, pipeline_arn: str) -> PipelineFile:
    """The execution with the ARN of its source; an error if these steps cannot be run alone.

    The source may be named as a job of this machine. Without one it is the last execution that has what is needed.
    """
    config = file.start.get(_SELECTIVE)
    if config is None:
        return file
    selected = [each["StepName"] for each in config["SelectedSteps"]]
    given = config.get(_SOURCE)
    if given is None:
        source = _last_with(store, pipeline_arn, needed_from_source(file.definition, selected))
    else:
        source = given if given.startswith("arn:") else _arn_of(store, given)
    steps = {} if source is None else _steps_of(store, source)
    progress = {name: step.progress for name, step in steps.items()}
    trouble = selection_trouble(file.definition, selected, source_arn=source, source=progress)
    if trouble is not None:
        raise SelectedStepsError(trouble, remedy=["Select these steps too, or run the whole pipeline first."])
    chosen = {**config, **({} if source is None else {_SOURCE: source})}
    return replace(file, start={**file.start, _SELECTIVE: chosen})


def _last_with(store: Store, pipeline_arn: str, needed: list[str]) -> str | None:
    for record, _ in sorted(store.jobs_with(STATE), key=lambda found: -found[0].created):
        if record.arn.startswith(f"{pipeline_arn}/execution/") and record.status.terminal:
            steps = read_steps(store, record.name)
            if all(name in steps and steps[name].progress.state.value == "Succeeded" for name in needed):
                return record.arn
    return None


def _arn_of(store: Store, name: str) -> str:
    try:
        return store.get(name).arn
    except JobUnknownError as error:
        raise SelectedStepsError(
            f"there is no execution '{name}' here whose results could be used", remedy=["smlocal jobs --kind pipeline"]
        ) from error


def _steps_of(store: Store, arn: str) -> dict[str, StoredStep]:
    try:
        return read_steps(store, store.name_of(arn))
    except JobUnknownError:
        return {}
