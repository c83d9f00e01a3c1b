"""The items, the answer and the Selector of a ForEach."""

from typing import Any

import pytest

from smlocal.sagemaker.pipelines.definition import Step
from smlocal.sagemaker.pipelines.for_each import for_each_answer, items_of, selected_child
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
FIELD = {"Get": "ChildOutput.Body.OutputParameters['score']"}


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
def test_the_selected_child(pick: str, answers: list[Any], chosen: int | None) -> None:
    assert selected_child(step(selector={"Pick": pick, "Field": FIELD}), answers, "Body") == chosen


def test_the_answer() -> None:
    selector = {"Pick": "MaxBy", "Field": FIELD}
    answer = for_each_answer(step(selector=selector), {"Status": "Succeeded"}, ANSWERS, "Body")
    assert answer["Selected"] == ANSWERS[1]
    assert answer["ChildOutputs"][2] == ANSWERS[2]
    assert "Selected" not in for_each_answer(step(), {}, ANSWERS, "Body")
