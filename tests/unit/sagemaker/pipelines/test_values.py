"""What expressions are when a step starts, and whether conditions hold."""

from typing import Any

import pytest

from smlocal.sagemaker.pipelines.conditions import holds
from smlocal.sagemaker.pipelines.parameters import typed
from smlocal.sagemaker.pipelines.step_reading import duration
from smlocal.sagemaker.pipelines.values import Known, ValueUnknownError, as_far_as_known, evaluate

REPORT = {
    "metrics": {"accuracy": {"value": 0.9}, "odd name": [1, {"deep": True}], "bad": {"inf": float("inf")}},
    "half": "\ud800",
}
NO_JSON = "what is no JSON: NaN, Infinity or half a character"
ANSWERS: dict[str, dict[str, Any]] = {
    "Prep": {
        "ProcessingJobName": "pipelines-prep",
        "ProcessingOutputConfig": {"Outputs": [{"OutputName": "train", "S3Output": {"S3Uri": "s3://b/train"}}]},
        "Environment": {"a.b": "c"},
    },
    "Train": {
        "ModelArtifacts": {"S3ModelArtifacts": "s3://b/m"},
        "FinalMetricDataList": [{"MetricName": "val:acc", "Value": 0.5}],
    },
    "Call": {"OutputParameters": {"id": 7, "odd name": True}},
}


def _file(step: str, name: str) -> Any:
    assert (step, name) == ("Prep", "report")
    return REPORT


def _object(location: str) -> Any:
    if location != "s3://b/7/report.json":
        raise ValueUnknownError(f"{location} is not there")
    return REPORT


KNOWN = Known(
    parameters={"Count": 2, "Rate": 0.5, "On": True, "Name": "x"},
    execution={"PipelineName": "p"},
    answers=ANSWERS,
    file_of=_file,
    object_at=_object,
    item={"name": "first", "a": {"b": [4]}},
    iteration={"Body": {"OutputParameters": {"score": 3}}},
    experiment={"ExperimentName": "p"},
)


def get(text: Any) -> dict[str, Any]:
    return {"Get": text}


def joined(*values: Any, on: str = "/") -> dict[str, Any]:
    return {"Std:Join": {"On": on, "Values": list(values)}}


def json_get(path: str, name: str = "report") -> dict[str, Any]:
    return {"Std:JsonGet": {"PropertyFile": get(f"Steps.Prep.PropertyFiles.{name}"), "Path": path}}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("plain", "plain"),
        (get("Parameters.Count"), 2),
        (get("Parameters.On"), True),
        (get("Execution.PipelineName"), "p"),
        (get("Steps.Prep.ProcessingJobName"), "pipelines-prep"),
        (get("Steps.Prep.ProcessingOutputConfig.Outputs['train'].S3Output.S3Uri"), "s3://b/train"),
        (get('Steps.Prep.ProcessingOutputConfig.Outputs["train"].OutputName'), "train"),
        (get("Steps.Prep.ProcessingOutputConfig.Outputs[0].OutputName"), "train"),
        (get("Steps.Prep.Environment['a.b']"), "c"),
        (get("Steps.Train.FinalMetricDataList['val:acc'].Value"), 0.5),
        (get("Steps.Call.OutputParameters['id']"), 7),
        (get("ForEach.CurrentItem.name"), "first"),
        (get("ForEach.CurrentItem.a.b[0]"), 4),
        (get("IterationOutput.Body.OutputParameters['score']"), 3),
        (get("PipelineExperimentConfig.ExperimentName"), "p"),
        (
            joined("s3://b", get("Parameters.Count"), get("Parameters.On"), get("Parameters.Rate"), 1),
            "s3://b/2/true/0.5/1",
        ),
        (joined("a", joined("b", get("Steps.Call.OutputParameters['id']"), on="-")), "a/b-7"),
        ({"Std:Join": {"Values": ["a", False]}}, "afalse"),
        (json_get("metrics.accuracy.value"), 0.9),
        (json_get("$.metrics.accuracy.value"), 0.9),
        (json_get("metrics['odd name'][1].deep"), True),
        ({"Std:JsonGet": {"S3Uri": joined("s3://b", 7, "report.json"), "Path": "metrics.accuracy.value"}}, 0.9),
        ({"a": [get("Parameters.Name"), {"b": get("Parameters.Rate")}]}, {"a": ["x", {"b": 0.5}]}),
        ({"Get": "x", "other": 1}, {"Get": "x", "other": 1}),  # two members: a map, and no expression
    ],
)
def test_a_value(written: Any, value: Any) -> None:
    found = evaluate(written, KNOWN)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        (get("Parameters.None"), "'None' is not a parameter of the pipeline"),
        (
            get("Steps.Later.ModelName"),
            "Steps.Later.ModelName: the step 'Later' has no answer, because it has not succeeded",
        ),
        (
            get("Steps.Train.ModelArtifact"),
            "Steps.Train.ModelArtifact: the answer has no 'ModelArtifact'; did you mean ModelArtifacts?",
        ),
        (get("Steps.Prep.ProcessingOutputConfig.Outputs[3]"), "the list has 1 elements, and none at 3"),
        (get("Steps.Prep.ProcessingOutputConfig.Outputs['test']"), "the list has no element named 'test'"),
        (get("Steps.Prep.ProcessingJobName.Tail"), "there is nothing below a string"),
        (joined(get("Steps.Train.ModelArtifacts")), "a map is not text; Std:Join takes text, numbers and Booleans"),
        (json_get("metrics.loss"), "the property file 'report' has nothing at 'metrics.loss': there is no loss"),
        (json_get("metrics.bad"), f"the property file 'report' has at 'metrics.bad' {NO_JSON}"),
        (json_get("half"), f"the property file 'report' has at 'half' {NO_JSON}"),
        (json_get("metrics[*]"), "Path 'metrics[*]' selects several values; name one"),
        (json_get("a" * 3000), "Path is text of 1 to 2,048 characters, such as metrics.accuracy.value"),
        ({"Std:JsonGet": {"S3Uri": "s3://b/none", "Path": "a"}}, "s3://b/none is not there"),
        ({"deep": [get("Parameters.None")]}, "deep.1.member: 'None' is not a parameter of the pipeline"),
        (joined(*(["y" * 1000] * 2000)), "Std:Join makes more than 1,048,576 characters"),
    ],
)
def test_an_expression_without_a_value(written: Any, sentence: str) -> None:
    with pytest.raises(ValueUnknownError) as caught:
        evaluate(written, KNOWN)
    assert str(caught.value).endswith(sentence)


def compared(kind: str, left: Any, right: Any) -> dict[str, Any]:
    return {"Type": kind, "LeftValue": left, "RightValue": right}


def test_what_has_no_value_stays_as_it_is_written() -> None:
    written = {"Or": [{"Left": {"Get": "Parameters.Count"}}, {"Left": {"Get": "Steps.Never.OutputParameters['n']"}}, 1]}
    assert as_far_as_known(written, KNOWN) == {"Or": [{"Left": 2}, written["Or"][1], 1]}


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        (compared("Equals", 1, 1.0), True),
        (compared("Equals", 1, "1"), False),
        (compared("Equals", True, 1), False),
        (compared("Equals", get("Parameters.On"), True), True),
        (compared("GreaterThan", 2, 1), True),
        (compared("GreaterThan", 1, 1), False),
        (compared("GreaterThanOrEqualTo", 1, 1), True),
        (compared("LessThan", "a", "b"), True),
        (compared("LessThanOrEqualTo", json_get("metrics.accuracy.value"), 0.9), True),
        ({"Type": "In", "QueryValue": get("Parameters.Count"), "Values": [1, get("Parameters.Count")]}, True),
        ({"Type": "In", "QueryValue": "x", "Values": []}, False),
        ({"Type": "In", "Value": "x", "In": ["x"]}, True),
        ({"Type": "Not", "Expression": compared("Equals", 1, 1)}, False),
        ({"Type": "Not", "Condition": compared("Equals", 1, 2)}, True),
        ({"Type": "Or", "Conditions": [compared("Equals", 1, 2), compared("Equals", 1, 1)]}, True),
        ({"Type": "Or", "Conditions": [compared("Equals", 1, 2)]}, False),
    ],
)
def test_a_condition(condition: dict[str, Any], outcome: bool) -> None:
    assert holds(condition, KNOWN) is outcome


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        ("String", "3", "3"),
        ("String", 3, None),
        ("String", "x" * 1025, None),
        ("Integer", "3", 3),
        ("Integer", "-3", -3),
        ("Integer", "3.0", None),
        ("Integer", True, None),
        ("Integer", "9" * 30, None),
        ("Float", "3", 3.0),
        ("Float", "inf", None),
        ("Float", "1e999", None),
        ("Float", float("inf"), None),
        ("Float", "-.5e1", -5.0),
        ("Float", "1_0", None),
        ("Float", " 5", None),
        ("Float", "x", None),
        ("Boolean", "True", True),
        ("Boolean", "false", False),
        ("Boolean", "yes", None),
    ],
)
def test_the_value_of_a_parameter(kind: str, given: Any, value: Any) -> None:
    assert typed(kind, given) == value


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("P30D", 30 * 86_400),
        ("p30d", 30 * 86_400),
        ("30d", 30 * 86_400),
        ("P4DT12H", 4 * 86_400 + 12 * 3_600),
        ("T12H", 12 * 3_600),
        ("T16m", 16 * 60),
        ("30dT5h", 30 * 86_400 + 5 * 3_600),
        ("5y", 5 * 365 * 86_400),
        ("P1M", 30 * 86_400),
        ("P", None),
        ("", None),
        ("12H", None),
        ("P1D" * 40, None),
        (30, None),
    ],
)
def test_a_duration(text: Any, seconds: float | None) -> None:
    """The forms of the documentation of the cache are not all of ISO 8601."""
    assert duration(text) == seconds
