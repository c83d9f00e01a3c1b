"""The items, the answer and the Selector of a ForEach."""

from typing import Any

import pytest

from smlocal.sagemaker.pipelines.definition import Step
from smlocal.sagemaker.pipelines.for_each import for_each_answer, items_of, selected_iteration
from smlocal.sagemaker.pipelines.step_types import STEP_TYPES
from smlocal.sagemaker.pipelines.values import Known, ValueUnknownError


def step(items: Any = None, selector: dict[str, Any] | None = None) -> Step:
    arguments = {"IterableItems": items, **({"Selector": selector} if selector else {})}
    return Step(name="Each", type=STEP_TYPES["ForEach"], path=(), given={}, arguments=arguments)


@pytest.mark.parametrize(
    ("value", "items"),
    [
        ('["a", "b"]', ["a", "b"]),
        ([1, "b"], [1, "b"]),
        ('["{\\"name\\": \\"x\\"}", {"name": "y"}, "{not json"]', [{"name": "x"}, {"name": "y"}, "{not json"]),
        ("[]", []),
    ],
)
def test_the_items(value: Any, items: list[Any]) -> None:
    assert items_of(step({"Get": "Parameters.Items"}), Known(parameters={"Items": value})) == items


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("a, b", "no JSON list"),
        ('{"a": 1}', "is a map, and must be a list"),
        (str(list(range(101))), "has 101 items; 100 are allowed"),
        ("[" * 500, "too large, or too deep"),
        (3, "is a number, and must be a list"),
    ],
)
def test_no_list_of_items(value: Any, sentence: str) -> None:
    with pytest.raises(ValueUnknownError, match=sentence):
        items_of(step({"Get": "Parameters.Items"}), Known(parameters={"Items": value}))


ANSWERS = [{"OutputParameters": {"score": score}} for score in (0.5, "0.9", 0.1)]
FIELD = {"Get": "IterationOutput.Body.OutputParameters['score']"}


@pytest.mark.parametrize(
    ("pick", "answers", "chosen"),
    [
        ("MaxBy", ANSWERS, 1),
        ("MinBy", ANSWERS, 2),
        ("MinBy", [ANSWERS[0], None, None], 0),
        ("MaxBy", [ANSWERS[0], ANSWERS[0]], 0),
        ("MaxBy", [None], None),
    ],
)
def test_the_selected_iteration(pick: str, answers: list[Any], chosen: int | None) -> None:
    iterations = [{"Body": answer, "Other": None} for answer in answers]
    assert selected_iteration(step(selector={"Pick": pick, "Field": FIELD}), iterations) == chosen


def test_the_answer() -> None:
    selector = {"Pick": "MaxBy", "Field": FIELD}
    iterations: list[Any] = [{"Prep": {"ProcessingJobName": "p"}, "Body": answer} for answer in ANSWERS]
    answer, metadata = for_each_answer(step(selector=selector), {"Status": "Succeeded"}, iterations)
    assert answer["Selected"] == ANSWERS[1]
    assert answer["IterationOutputs"][2] == {"Prep": {"ProcessingJobName": "p"}, "Body": ANSWERS[2]}
    assert metadata == {"Status": "Succeeded", "Selector": {"StepName": "Body-1", "Index": 1}}
    answer, metadata = for_each_answer(step(), {}, [{"Body": None}])
    assert answer == {"IterationOutputs": [{"Body": {}}]}
    assert metadata == {}
