"""The answer of ListPipelineExecutionSteps: the steps of an execution that have begun."""

import json
from collections.abc import Iterable
from typing import Any, Final, Self

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.pipelines.deciding import Progress, State
from smlocal.sagemaker.pipelines.definition import Step

_UNLISTED: Final = frozenset({State.WAITING, State.READY, State.LEFT_OUT})


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """What a row says of one step."""

    name: str
    type: str
    display_name: str | None = None
    description: str | None = None
    progress: Progress

    @classmethod
    def of(cls, step: Step, progress: Progress) -> Self:
        """A step of a definition."""
        named = {"display_name": step.display_name, "description": step.description}
        return cls(name=step.name, type=step.type.name, progress=progress, **named)


def has_begun(progress: Progress) -> bool:
    """True for a step that is listed. A branch that is not taken is not."""
    return progress.state not in _UNLISTED or progress.attempts > 0


def listed(steps: Iterable[Listed], *, ascending: bool = False) -> list[dict[str, Any]]:
    """The rows of those that have begun."""
    begun = [each for each in steps if has_begun(each.progress)]
    begun.sort(key=lambda each: (each.progress.number, each.name), reverse=not ascending)
    return [_row(each) for each in begun]


def _row(step: Listed) -> dict[str, Any]:
    progress = step.progress
    iteration = progress.iteration
    row: dict[str, Any] = {
        "StepName": step.name,
        "StepDisplayName": step.display_name,
        "StepDescription": step.description,
        "StartTime": progress.began,
        "EndTime": progress.ended,
        "StepStatus": _status(progress),
        "FailureReason": progress.reason if progress.state is State.FAILED and progress.reason else None,
        "Metadata": _metadata(step.type, progress),
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
