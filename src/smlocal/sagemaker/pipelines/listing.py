"""The answer of ListPipelineExecutionSteps: the steps of an execution that have begun."""

import json
from typing import Any, Final

from smlocal.sagemaker.pipelines.deciding import Execution, Progress, State

_UNLISTED: Final = frozenset({State.WAITING, State.READY, State.LEFT_OUT})


def listed_steps(execution: Execution, *, ascending: bool = False) -> list[dict[str, Any]]:
    """Those that have begun, the newest first. A branch that is not taken is not there."""
    begun = [
        (progress.number, name)
        for name, progress in execution.progress.items()
        if progress.state not in _UNLISTED or progress.attempts
    ]
    begun.sort(reverse=not ascending)
    return [_row(execution, name) for _, name in begun]


def _row(execution: Execution, name: str) -> dict[str, Any]:
    step, progress = execution.steps[name], execution.progress[name]
    iteration = progress.iteration
    row: dict[str, Any] = {
        "StepName": name,
        "StepDisplayName": step.display_name,
        "StepDescription": step.description,
        "StartTime": progress.began,
        "EndTime": progress.ended,
        "StepStatus": _status(progress),
        "FailureReason": progress.reason if progress.state is State.FAILED and progress.reason else None,
        "Metadata": _metadata(step.type.name, progress),
        "AttemptCount": progress.attempts,
        "CacheHitResult": {"SourcePipelineExecutionArn": progress.cached} if progress.cached else None,
        "SelectiveExecutionResult": {"SourcePipelineExecutionArn": progress.reused} if progress.reused else None,
    }
    if iteration is not None:
        item = iteration.item if isinstance(iteration.item, str) else json.dumps(iteration.item)
        row["IterationContext"] = {"ParentStepName": iteration.parent, "Index": iteration.index, "Item": item}
    return {member: value for member, value in row.items() if value is not None}


def _status(progress: Progress) -> str:
    """A step that waits for another attempt executes, to those who ask."""
    return "Executing" if progress.state is State.READY else progress.state.value


def _metadata(kind: str, progress: Progress) -> dict[str, Any]:
    if kind == "Condition" and progress.outcome is not None:
        return {"Condition": {"Outcome": "True" if progress.outcome else "False"}}
    if kind == "Fail" and progress.state is State.FAILED:
        return {"Fail": {"ErrorMessage": progress.reason}}
    return dict(progress.metadata)
