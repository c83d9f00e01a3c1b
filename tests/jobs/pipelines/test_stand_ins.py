"""Lambda, Callback and other steps that only the service can do, with what stands in for them."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from smlocal.sagemaker.pipelines.stored import answer_callback

Gone = Callable[[str], None]
FUNCTION = "arn:aws:lambda:us-east-1:111122223333:function:f"


def _lambda(name: str, *outputs: str, **arguments: Any) -> dict[str, Any]:
    found = [{"OutputName": each, "OutputType": "Integer"} for each in outputs]
    return {"Name": name, "Type": "Lambda", "FunctionArn": FUNCTION, "Arguments": arguments, "OutputParameters": found}


def _fails_with(*values: Any, after: str = "") -> dict[str, Any]:
    """A step whose reason shows values."""
    message = {"Std:Join": {"On": " ", "Values": list(values)}}
    waits = {"DependsOn": [after]} if after else {}
    return {"Name": "Shows", "Type": "Fail", "Arguments": {"ErrorMessage": message}, **waits}


@pytest.mark.slow(2)
def test_outputs_of_stand_ins_reach_other_steps(pipelines: Any, all_gone: Gone) -> None:
    (pipelines.life.folder / "f.py").write_text("def handler(event, context):\n    return {'n': event['a'] + 1}\n")
    n = {"Get": "Steps.Python.OutputParameters['n']"}
    command = ["python3", "-c", "import json, sys; print(json.dumps({'n': json.load(sys.stdin)['a'] * 2}))"]
    steps = [
        _lambda("Python", "n", a=1),
        _lambda("Command", "n", a=n),
        {"Name": "Check", "Type": "QualityCheck", "Arguments": {}},
        {"Name": "Left", "Type": "EMR", "Arguments": {}, "DependsOn": ["Check"]},
        _fails_with(n, {"Get": "Steps.Command.OutputParameters['n']"}, {"Get": "Steps.Check.Found"}, after="Left"),
    ]
    local = {
        "Python": {"Python": "f.py:handler"},
        "Command": {"Command": command},
        "Check": {"Outputs": {"Found": "yes"}},
        "Left": {"Skip": True},
    }
    execution = pipelines.run("instead", steps, code=1, Local={"Steps": local})
    assert pipelines.rows(execution)[-1] == "Shows Failed 2 4 yes"
    assert pipelines.steps(execution)["Command"].progress.metadata["Lambda"] == {
        "Arn": FUNCTION,
        "OutputParameters": [{"Name": "n", "Value": "4"}],
    }
    notes = [note["Text"] for note in pipelines.life.describe(execution)["Local"]["Notes"] if note["Id"] == "stand-in"]
    assert "Python: f.py:handler runs, in place of the service's step" in notes
    all_gone(execution)


@pytest.mark.slow(2)
def test_a_callback_is_answered(pipelines: Any, all_gone: Gone) -> None:
    outputs = [{"OutputName": "told", "OutputType": "Boolean"}]
    ask = {"Name": "Ask", "Type": "Callback", "SqsQueueUrl": "https://q", "Arguments": {}, "OutputParameters": outputs}
    steps = [ask, _fails_with("told", {"Get": "Steps.Ask.OutputParameters['told']"})]
    execution = pipelines.detach("called-back", steps)
    life = pipelines.life
    life.until(lambda: "Ask" in pipelines.steps(execution) and pipelines.steps(execution)["Ask"].waits is not None)
    token = pipelines.steps(execution)["Ask"].waits["Token"]
    life.crash(execution)
    answer_callback(life.store, token, outputs={"told": "true"})
    assert pipelines.wait(execution) == "Failed"
    assert pipelines.rows(execution) == ["Ask Succeeded", "Shows Failed told true"]
    assert life.store.resource("callback", token) is None
    all_gone(execution)


@pytest.mark.slow(2)
def test_a_handler_that_runs_is_awaited_by_a_stop_and_not_by_a_second_one(pipelines: Any) -> None:
    (pipelines.life.folder / "f.py").write_text(
        "import time\n\ndef handler(event, context):\n    print('up', flush=True)\n    time.sleep(600)\n"
    )
    execution = pipelines.detach("handles", [_lambda("Long")], Local={"Steps": {"Long": {"Python": "f.py:handler"}}})
    log = pipelines.life.home / "jobs" / execution / "logs" / "Long.log"
    pipelines.life.until(lambda: log.exists() and "up" in log.read_text())
    pipelines.life.ask_to_stop(execution)
    pipelines.life.until(lambda: pipelines.steps(execution)["Long"].progress.state == "Stopping")
    assert pipelines.life("stop", execution, "--grace", "0", "--wait").returncode == 0
    assert pipelines.rows(execution) == ["Long Stopped"]


OF_CLIENT = """
import json, boto3, time
client = boto3.client("sagemaker", region_name="us-east-1")
step = {"Name": "Made", "Type": "Lambda", "FunctionArn": "%s", "Arguments": {"name": "by-handler"}}
definition = json.dumps({"Version": "2020-12-01", "Steps": [step, {**step, "Name": "Told", "DependsOn": ["Made"]}]})
client.create_pipeline(PipelineName="P", PipelineDefinition=definition, RoleArn="arn:aws:iam::111122223333:role/R")
arn = client.start_pipeline_execution(PipelineName="P")["PipelineExecutionArn"]
while (told := client.describe_pipeline_execution(PipelineExecutionArn=arn))["PipelineExecutionStatus"] == "Executing":
    time.sleep(0.1)
found = client.list_pipeline_execution_steps(PipelineExecutionArn=arn)["PipelineExecutionSteps"]
print([told["PipelineExecutionStatus"], *(each.get("FailureReason") for each in found)])
print([each["ModelName"] for each in client.list_models()["Models"]])
"""
HANDLER = """
import boto3

def handler(event, context):
    container = {"Image": "nowhere", "Environment": {"by": context.function_name}}
    boto3.client("sagemaker").create_model(
        ModelName=event["name"], PrimaryContainer=container, ExecutionRoleArn="arn:aws:iam::111122223333:role/R"
    )
    return {}
"""


@pytest.mark.slow(4)
def test_aws_of_a_stand_in_is_that_of_the_client(pipelines: Any) -> None:
    folder = pipelines.life.folder
    (folder / "f.py").write_text(HANDLER)
    (folder / "client.py").write_text(OF_CLIENT % FUNCTION)
    code = "import boto3; boto3.client('sagemaker').describe_model(ModelName='by-handler')"
    steps = {"Made": {"Python": "f.py:handler"}, "Told": {"Command": [sys.executable, "-c", code]}}
    (folder / "steps.json").write_text(json.dumps(steps))
    done = pipelines.life("exec", "--steps", folder / "steps.json", "--", sys.executable, folder / "client.py")
    assert done.stdout.splitlines() == ["['Succeeded', None, None]", "['by-handler']"], done.stderr
