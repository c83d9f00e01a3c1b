"""Definitions with mistakes: all of them at once, each with its line, and the service's sentence where one is known."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smlocal.errors import RequestRefusedError
from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.pipelines.reading import load_definition, read_definition
from smlocal.sagemaker.pipelines.step_types import MOST_BYTES

from .simulated import cases, script_of
from .steps import with_requests

CASES = cases((Path(__file__).parent / "mistakes.txt").read_text(encoding="utf-8"))
FAIL: dict[str, Any] = {"Name": "F", "Type": "Fail", "Arguments": {"ErrorMessage": "m"}}


def told(text: str, given: dict[str, str] | None = None, stand_ins: list[str] | None = None) -> list[str]:
    """The lines of the error, without the name of the file, and the service's sentence."""
    try:
        read_definition(load_document(text, name="p", directory="/"), given=given, stand_ins=stand_ins or [])
    except RequestRefusedError as error:
        service = getattr(error, "service_message", "")
        lines = [f"{number} {rest.strip()}" for line in error.details for number, rest in [_parts(line)]]
        return [*lines, f"service: {service}"] if service else lines
    return ["valid"]


def _parts(line: str) -> list[str]:
    return line.removeprefix("p:").split(" ", 1)


@pytest.mark.parametrize(("title", "parts"), CASES, ids=[title for title, _ in CASES])
def test_the_mistakes_of_a_definition(title: str, parts: list[str]) -> None:
    text, expected = parts
    lines = expected.splitlines()
    given = None
    if lines[0].startswith("given "):
        given = script_of(lines.pop(0)).given
    assert told(with_requests(text), given) == lines, title


def test_a_step_that_only_the_service_runs_needs_a_stand_in() -> None:
    steps = ["- {Name: L, Type: Lambda, FunctionArn: f}", "- {Name: E, Type: EMR, Arguments: {}}"]
    text = "\n".join(['Version: "2020-12-01"', "Steps:", *steps])
    line = "does not run on this machine; say what stands in for it: Local.Steps."
    assert told(text) == [
        f"3 Steps.1.member: a step of type Lambda {line}L: {{Python: FILE.py:HANDLER}}",
        f"4 Steps.2.member: a step of type EMR {line}E: {{Command: [PROGRAM]}}",
    ]
    assert told(text, stand_ins=["L", "E"]) == ["valid"]
    local = "\nLocal: {Steps: {L: {Command: [python3, l.py]}, E: {Skip: true}}}"
    assert told(text + local) == ["valid"]


def test_a_request_has_its_definition_as_text() -> None:
    inner = {"Version": "2020-12-01", "Steps": [{**FAIL, "Name": "A"}, {**FAIL, "Name": "A"}]}
    request = {"PipelineName": "p", "RoleArn": "r", "PipelineDefinition": json.dumps(inner, indent=1)}
    document = load_document(json.dumps(request), name="request.json", directory="/")
    with pytest.raises(RequestRefusedError) as caught:
        read_definition(document)
    assert caught.value.details == (
        "request.json:PipelineDefinition:12   Steps.2.member.Name: another step is named 'A'",
    )
    document.data["Local"] = {"Steps": {"Ghost": {"Skip": True}}}
    with pytest.raises(RequestRefusedError) as caught:
        read_definition(document)
    assert caught.value.details[0] == "request.json:1   Local.Steps.Ghost: the pipeline has no step of this name"
    del document.data["Local"]
    inner["Steps"] = [FAIL]
    document.data["PipelineDefinition"] = inner  # as a person may write it
    definition = read_definition(document)
    assert list(definition.steps) == ["F"]
    assert definition.request == {"PipelineName": "p", "RoleArn": "r"}


@pytest.mark.parametrize(
    ("request_", "lines"),
    [
        (
            {"PipelineName": "p"},
            ["Value null at 'pipelineDefinition' failed to satisfy constraint: Member must not be null"],
        ),
        (
            {"PipelineDefinition": 3, "Typo": 1},
            [
                "Typo: CreatePipeline has no such member",
                "Value null at 'pipelineName' failed to satisfy constraint: Member must not be null",
                "PipelineDefinition: must be JSON text; it is a number",
            ],
        ),
        (
            {
                "PipelineName": "p",
                "PipelineDefinition": "{}",
                "ParallelismConfiguration": {"MaxParallelExecutionSteps": 0},
            },
            ["ParallelismConfiguration.MaxParallelExecutionSteps: must be a whole number from 1 on"],
        ),
    ],
)
def test_the_mistakes_of_a_request(request_: dict[str, Any], lines: list[str]) -> None:
    document = load_document(json.dumps(request_), name="p", directory="/")
    with pytest.raises(RequestRefusedError) as caught:
        read_definition(document)
    assert sorted(line.split("   ", 1)[1] for line in caught.value.details) == sorted(lines)


def nested(deep: int) -> str:
    """A definition with conditions in each other."""
    steps: list[dict[str, Any]] = []
    for number in range(deep):
        conditions = [{"Type": "Equals", "LeftValue": 1, "RightValue": 1}]
        arguments = {"Conditions": conditions, "IfSteps": steps, "ElseSteps": []}
        steps = [{"Name": f"C{number}", "Type": "Condition", "Arguments": arguments}]
    return json.dumps({"Version": "2020-12-01", "Steps": steps})


def test_conditions_may_be_deep_in_each_other() -> None:
    read = read_definition(load_definition(nested(50), name="p", directory="/"))
    assert len(read.steps) == 50
    with pytest.raises(RequestRefusedError, match="problem"):
        read_definition(load_definition(nested(53), name="p", directory="/"))
    with pytest.raises(RequestRefusedError, match="more than 250 levels deep"):
        load_definition(nested(100), name="p", directory="/")


def below(calls: int, read: Callable[[], object]) -> object:
    """Calls it with less of the stack."""
    return read() if calls == 0 else below(calls - 1, read)


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("calls", [0, 800])
@pytest.mark.parametrize("name", ["p.json", "p"])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("text", ["[", '{"a":', "a: [", "- ", '{"a": {"b": ['])
def test_deep_brackets_have_one_answer_however_much_of_the_stack_is_left(
    text: str, closed: bool, name: str, calls: int
) -> None:
    deep = text[:-1] + text[-1] * 100_000 if text[-1] == "[" else text * 100_000
    closing = {"[": "]", "{": "}"}
    whole = deep + "".join(closing[each] for each in reversed(deep) if each in closing) if closed else deep
    with pytest.raises(RequestRefusedError) as caught:
        below(calls, lambda: load_definition(whole, name=name, directory="/"))
    assert str(caught.value) == f"{name} is too large for a request: more than 250 levels deep"


def test_a_definition_is_at_most_a_mebibyte() -> None:
    with pytest.raises(RequestRefusedError, match="larger than 1 MiB"):
        load_definition("x" * (MOST_BYTES + 1), name="p", directory="/")


def test_a_deep_join_is_read() -> None:
    value: Any = "x"
    for _ in range(60):
        value = {"Std:Join": {"On": "", "Values": [value]}}
    steps = [{"Name": "F", "Type": "Fail", "Arguments": {"ErrorMessage": value}}]
    text = json.dumps({"Version": "2020-12-01", "Steps": steps})
    assert list(read_definition(load_definition(text, name="p", directory="/")).steps) == ["F"]


def test_a_definition_of_the_client_library_is_valid() -> None:
    """With all that it writes: `to_string`, named outputs, conditions, retry policies, the best model of a search."""
    text = (Path(__file__).parent / "made_by_sdk.json").read_text(encoding="utf-8")
    definition = read_definition(load_definition(text, name="p", directory="/"), given={"Cnt": "2"}, stand_ins=["La"])
    assert {name: [after.step for after in step.after] for name, step in definition.steps.items()} == {
        "Prep": [],
        "Train": ["Prep"],
        "Tune": [],
        "Mod-CreateModel": ["Train"],
        "Cb": [],
        "La": ["Cb"],
        "Cond": ["Prep", "La"],
        "Reg-RegisterModel": ["Tune"],
        "Trans": ["Mod-CreateModel"],
        "Fail": [],
    }
    assert [step.branch for step in definition.children("Cond")] == [True, True, False]
    assert definition.steps["Train"].retries[1].minutes == 60
    cache = definition.steps["Tune"].cache
    assert cache is not None
    assert cache.seconds == 30 * 86_400


MANY = [{**FAIL, "Name": f"F{number}"} for number in range(2_000)]
OUTPUTS = [{"OutputName": f"o{number}", "OutputType": "String"} for number in range(5_000)]


@pytest.mark.parametrize(
    ("steps", "problems"),
    [
        pytest.param([{**FAIL, "Type": "Fial", "Name": f"F{i}"} for i in range(4_000)], "at least 1,000", id="types"),
        pytest.param([0] * 100_000, "1 problem", id="no steps"),
        pytest.param([{**each, "DependsOn": ["Nothing"]} for each in MANY], "at least 1,000", id="dependencies"),
        pytest.param([{"Name": "C", "Type": "Callback", "OutputParameters": OUTPUTS}], "1 problem in", id="outputs"),
        pytest.param(
            [{**FAIL, "Arguments": {"ErrorMessage": {"Get": "Parameters." + "a" * 900_000}}}],
            "1 problem in",
            id="a long reference",
        ),
    ],
)
def test_mistakes_of_any_number_are_told(steps: list[Any], problems: str) -> None:
    text = json.dumps({"Version": "2020-12-01", "Steps": steps})
    with pytest.raises(RequestRefusedError, match=problems) as caught:
        read_definition(load_definition(text, name="p", directory="/"))
    assert len(caught.value.details) <= 31
    assert all(len(line) < 900 for line in caught.value.details)
