"""The steps of an execution as `smlocal describe` tells them, of what is stored of each."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from smlocal.jobs.store.jobs import Store
from smlocal.pipelines.shown_steps import result_rows, step_rows, steps_block, value_rows
from smlocal.sagemaker.pipelines.deciding import Iteration, Progress, State
from smlocal.sagemaker.pipelines.listing import Listed
from smlocal.sagemaker.pipelines.stored import STATE, StoredStep, state_document, step_document

DEFINITION = {
    "Version": "2020-12-01",
    "Steps": [
        {"Name": "Made", "Type": "Processing", "Arguments": {"Environment": {"A": {"Get": "Parameters.A"}}}},
        {
            "Name": "Each",
            "Type": "ForEach",
            "Arguments": {
                "IterableItems": {"Get": "Parameters.Items"},
                "ForEachBody": [
                    {"Name": "Item", "Type": "Training", "Arguments": {"n": {"Get": "ForEach.CurrentItem"}}}
                ],
            },
        },
    ],
}


def stored(name: str, kind: str, state: State, **more: Any) -> StoredStep:
    progress: dict[str, Any] = {"began": 100.0, "ended": None if state is State.EXECUTING else 101.5, "attempts": 1}
    progress |= {each: more.pop(each) for each in Progress.__slots__ if each in more}
    return StoredStep(listed=Listed(name=name, type=kind, progress=Progress(state=state, **progress)), **more)


MISSED = {
    "Why": "Environment and 1 more differ from the last run",
    "Compared": "arn:x/execution/old",
    "Changes": [
        {"Key": "Environment.API_TOKEN", "Before": "abc", "After": "def"},
        {"Key": "ProcessingInputs[0]", "Before": None, "After": {"InputName": "x"}},
    ],
}
WAITS = {"Token": "abcDEF1234", "Message": {"token": "abcDEF1234"}, "Outputs": [{"Name": "ok", "Type": "Boolean"}]}
STEPS = [
    stored(
        "Made",
        "Processing",
        State.SUCCEEDED,
        job="job-1",
        arguments={"Environment": {"A": "v"}},
        cache=MISSED,
        folders={"s3://b/train": "/out/train"},
    ),
    stored(
        "Hit", "Training", State.SUCCEEDED, job="job-0", cached="arn:x/execution/old", cache={"Source": "arn:x/old"}
    ),
    stored("Kept", "Training", State.SUCCEEDED, reused="arn:x/execution/older", cache={"Why": "no earlier run"}),
    stored("Good", "Condition", State.SUCCEEDED, outcome=False),
    stored(
        "Plain",
        "Training",
        State.FAILED,
        job="job-2",
        attempts=3,
        reason="AlgorithmError:\n no",
        cache={"Why": "the step has no CacheConfig with Enabled: true"},
    ),
    stored("Told", "Lambda", State.SUCCEEDED, note="tell.py:handler runs", answer={"OutputParameters": {"a": 1}}),
    stored("Asks", "Callback", State.EXECUTING, waits=WAITS, arguments={}),
    stored(
        "Item-1", "Training", State.STOPPED, arguments={"n": 7}, iteration=Iteration(parent="Each", index=1, item=7)
    ),
]
ROWS = """\
Steps    Made    Succeeded     1.5 s   job-1
           result: /out/train
           not from the cache: Environment and 1 more differ from the last run
             Environment.API_TOKEN: ••• → •••
             ProcessingInputs[0]: nothing → {"InputName": "x"}
         Hit     Succeeded     1.5 s   job-0 (from the cache: old)
         Kept    Succeeded     1.5 s   (result of older)
         Good    Succeeded     1.5 s   false
         Plain   Failed        1.5 s   job-2
           AlgorithmError: no
           attempt 3
         Told    Succeeded     1.5 s
           stand-in: tell.py:handler runs
         Asks    Executing     N s
           waits for an answer:
             smlocal pipeline succeed abcDEF1234 --output ok=VALUE
             smlocal pipeline fail abcDEF1234 --reason TEXT
         Item-1  Stopped       1.5 s
"""
VALUES = """\
Values   Made
           Environment.A = Parameters.A → v
         Asks
           message: {"token": "abcDEF1234"}
         Item-1
           n = ForEach.CurrentItem → 7
"""


def test_the_results_of_an_execution_are_named_at_its_end() -> None:
    made = {"Name": "Split", "Type": "Processing", "Status": "Succeeded", "Folders": {"s3://b/a": "/o/a", "b": "/o/b"}}
    arn = "arn:aws:sagemaker:us-east-1:1:model-package/iris/3"
    steps: list[dict[str, Any]] = [
        made,
        {**made, "Name": "Hit", "Cache": {"Source": "arn:x"}},
        {**made, "Name": "Kept", "ReusedFrom": "arn:x"},
        {**made, "Name": "Bad", "Status": "Failed"},
        {"Name": "Register", "Type": "RegisterModel", "Status": "Succeeded", "Job": arn},
    ]
    rows = [("Split", "/o/a"), ("Split", "/o/b"), ("Register", "iris/3")]
    assert [*result_rows("p-1", steps)] == rows
    many = [{**made, "Name": f"S{number}", "Folders": {"a": f"/o/{number}"}} for number in range(10)]
    last = [*result_rows("p-1", many)]
    assert (last[0], last[-1]) == (("S2", "/o/2"), ("", "and 2 more: smlocal describe p-1"))


def block(home: Path, data: dict[str, Any]) -> list[dict[str, Any]]:
    """What is told of an execution that is stored so."""
    documents = {
        "request": {},
        "job": {"Data": data},
        STATE: state_document([each.listed.name for each in STEPS], {}, status="Executing", stopping=False),
        **{step_document(each.listed.name): each.document() for each in STEPS},
    }
    with Store.open(str(home)) as store:
        about: dict[str, Any] = {"run_id": "0" * 8, "created": 1.0, "documents": documents, "arn": "a"}
        store.create("one", supervisor_pid=os.getpid(), platform="sagemaker_pipeline", **about)
        return steps_block(store.read("one", (STATE,)), lambda kinds: store.read("one", kinds).documents)


def text(rows: Any) -> list[str]:
    lines = [f"{head:<9}{line}".rstrip() for head, line in rows]
    return [line if "Asks    Executing" not in line else "         Asks    Executing     N s" for line in lines]


@pytest.mark.parametrize(
    "data",
    [
        DEFINITION,
        {"PipelineName": "p", "PipelineDefinition": DEFINITION},
        {"PipelineName": "p", "PipelineDefinition": json.dumps(DEFINITION)},
        {"PipelineName": "p", "PipelineDefinition": "# YAML\n" + json.dumps(DEFINITION, indent=1)},
    ],
    ids=["definition", "request", "text", "yaml"],
)
def test_steps_on_the_screen(data: dict[str, Any], tmp_path: Path) -> None:
    found = block(tmp_path, data)
    assert text(step_rows(found)) == ROWS.splitlines()
    assert text(value_rows(found)) == VALUES.splitlines()


def test_steps_for_programs(tmp_path: Path) -> None:
    found = {each["Name"]: each for each in block(tmp_path, DEFINITION)}
    assert found["Made"]["Values"] == [{"Path": "Environment.A", "Written": {"Get": "Parameters.A"}, "Value": "v"}]
    assert found["Made"]["Cache"] == MISSED
    assert {key: found["Plain"][key] for key in ("Status", "Seconds", "Job", "Attempts", "FailureReason")} == {
        "Status": "Failed",
        "Seconds": 1.5,
        "Job": "job-2",
        "Attempts": 3,
        "FailureReason": "AlgorithmError:\n no",
    }
    assert found["Told"]["Answer"] == {"OutputParameters": {"a": 1}}
    assert found["Asks"]["Waits"]["Token"] == "abcDEF1234"
    assert "Waits" not in found["Told"]
    assert found["Good"]["Outcome"] is False


def test_an_execution_without_steps_tells_of_none(tmp_path: Path) -> None:
    with Store.open(str(tmp_path)) as store:
        about: dict[str, Any] = {"run_id": "0" * 8, "created": 1.0, "documents": {"request": {}}, "arn": "a"}
        store.create("one", supervisor_pid=os.getpid(), platform="sagemaker_pipeline", **about)
        assert steps_block(store.read("one", (STATE,)), lambda _: {}) == []
    assert [*step_rows([])] == []
