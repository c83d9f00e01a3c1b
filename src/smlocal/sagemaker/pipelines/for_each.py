"""What a ForEach computes: its items when it begins, its answer and the selected iteration when it has ended."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from smlocal.sagemaker.pipelines.answers import selected_body
from smlocal.sagemaker.pipelines.definition import Step
from smlocal.sagemaker.pipelines.step_types import MOST_ITEMS
from smlocal.sagemaker.pipelines.values import Known, ValueUnknownError, evaluate
from smlocal.terms.json_size import too_large
from smlocal.terms.validation.violation import kind_of

_MOST_PARTS: Final = 10_000
_MOST_LEVELS: Final = 20
Iteration = Mapping[str, Mapping[str, Any] | None]
"""The answers of the steps of one iteration, by their names in the body; None for one that has not succeeded."""


def items_of(step: Step, known: Known) -> list[Any]:
    """The items; `ValueUnknownError` if there is no list of them."""
    found = evaluate(step.arguments["IterableItems"], known)
    if isinstance(found, str):
        found = _parsed(found)
    if not isinstance(found, list):
        raise ValueUnknownError(f"IterableItems is {kind_of(found)}, and must be a list")
    if len(found) > MOST_ITEMS:
        raise ValueUnknownError(f"IterableItems has {len(found):,} items; {MOST_ITEMS} are allowed")
    return [_item(each) for each in found]


def _parsed(text: str) -> Any:
    if too_large(text, parts=_MOST_PARTS, levels=_MOST_LEVELS) is not None:
        raise ValueUnknownError("IterableItems is too large, or too deep")
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueUnknownError(f"IterableItems is no JSON list: {error}") from error


def _item(given: Any) -> Any:
    """An item whose fields have names is often written as JSON text."""
    if isinstance(given, str) and given.lstrip()[:1] == "{":
        try:
            return _parsed(given)
        except ValueUnknownError:
            return given
    return given


def selected_iteration(step: Step, iterations: Sequence[Iteration]) -> int | None:
    """The place of the iteration that the Selector picks; None if there is no Selector, or none has succeeded.

    Of equal ones the first is picked.
    """
    selector = step.arguments.get("Selector")
    if selector is None:
        return None
    body = selected_body(step)
    values: list[tuple[float, int]] = []
    for index, answers in enumerate(iterations):
        known = {name: answer for name, answer in answers.items() if answer is not None}
        if body in known:
            value = _number(evaluate(selector["Field"], Known(iteration=known)))
            values.append((-value if selector["Pick"] == "MaxBy" else value, index))
    return min(values)[1] if values else None


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise ValueUnknownError("the Field of a Selector is a Boolean, and must be a number")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueUnknownError(f"the Field of a Selector is {kind_of(value)}, and must be a number") from None


def for_each_answer(
    step: Step, counts: Mapping[str, Any], iterations: Sequence[Iteration]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What other steps can refer to, and its metadata. `counts`: those of its children."""
    chosen = selected_iteration(step, iterations)
    outputs = [{name: answer or {} for name, answer in answers.items()} for answers in iterations]
    answer: dict[str, Any] = {**counts, "IterationOutputs": outputs}
    if chosen is None:
        return answer, dict(counts)
    body = selected_body(step)
    answer["Selected"] = iterations[chosen][body]
    return answer, {**counts, "Selector": {"StepName": f"{body}-{chosen}", "Index": chosen}}
