"""Executions that clients start on a server: held questions, limits that change, stand-ins, and the rights of steps."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.waiter import WaiterModel, create_waiter_with_client
from tests.kit import until

from smlocal.endpoint.serving import Options

ROLE = "arn:aws:iam::123456789012:role/T"
ID = "PipelineExecutionArn"
STATUS = "PipelineExecutionStatus"


def callback(name: str) -> dict[str, Any]:
    return {"Name": name, "Type": "Callback", "SqsQueueUrl": "https://q", "Arguments": {}, "OutputParameters": []}


class Client:
    """boto3's client, and a pipeline."""

    def __init__(self, endpoint: Any) -> None:
        self.api = endpoint.client("sagemaker")

    def start(self, *steps: Any, parallel: int = 50) -> str:
        definition = json.dumps({"Version": "2020-12-01", "Steps": steps})
        self.api.create_pipeline(PipelineName="p", RoleArn=ROLE, PipelineDefinition=definition)
        limit = {"MaxParallelExecutionSteps": parallel}
        return str(self.api.start_pipeline_execution(PipelineName="p", ParallelismConfiguration=limit)[ID])

    def steps(self, execution: str) -> dict[str, Any]:
        found = self.api.list_pipeline_execution_steps(PipelineExecutionArn=execution)["PipelineExecutionSteps"]
        return {each["StepName"]: each for each in found}

    def token(self, execution: str, step: str) -> str:
        """That of a Callback, once it waits."""
        until(lambda: "Callback" in self.steps(execution).get(step, {}).get("Metadata", {}))
        return str(self.steps(execution)[step]["Metadata"]["Callback"]["CallbackToken"])

    def answer(self, token: str, **answer: Any) -> None:
        self.api.send_pipeline_execution_step_success(CallbackToken=token, **answer)

    def wait(self, execution: str, status: str) -> None:
        """As the SDKs do: their waiter asks every half minute."""
        acceptor = {"matcher": "path", "argument": STATUS, "expected": status, "state": "success"}
        waiter = {"operation": "DescribePipelineExecution", "delay": 30, "maxAttempts": 60, "acceptors": [acceptor]}
        model = WaiterModel({"version": 2, "waiters": {"Ended": waiter}})
        create_waiter_with_client("Ended", model, self.api).wait(PipelineExecutionArn=execution)


@pytest.mark.slow(1)
def test_more_steps_at_once_while_it_runs(endpoint: Any) -> None:
    client = Client(endpoint)
    execution = client.start(callback("A"), callback("B"), parallel=1)
    first = client.token(execution, "A")
    assert list(client.steps(execution)) == ["A"]
    limit = {"MaxParallelExecutionSteps": 2}
    client.api.update_pipeline_execution(PipelineExecutionArn=execution, ParallelismConfiguration=limit)
    client.answer(client.token(execution, "B"))
    client.answer(first)
    client.wait(execution, "Succeeded")


@pytest.mark.slow(1)
def test_a_stopped_execution_of_which_the_waiter_of_sdks_knows_no_end(endpoint: Any) -> None:
    client = Client(endpoint)
    execution = client.start(callback("A"), callback("B"))
    tokens = [client.token(execution, step) for step in ("A", "B")]
    client.api.stop_pipeline_execution(PipelineExecutionArn=execution)
    assert client.api.describe_pipeline_execution(PipelineExecutionArn=execution)[STATUS] == "Stopping"
    for token in tokens:
        client.answer(token)
    for _ in range(2):
        client.wait(execution, "Stopped")
    assert {each["StepStatus"] for each in client.steps(execution).values()} == {"Stopped"}
    said = [line for line in endpoint.said if "does not know this status" in line]
    assert [line.partition(". ")[0] for line in said] == [f"{execution} is Stopped"]


@pytest.mark.slow(1)
def test_a_step_has_no_more_rights_than_its_client(endpoint: Any) -> None:
    # What the definition says outright is refused by CreatePipeline.
    path = {"Std:Join": {"On": "/", "Values": ["/etc", {"Get": "Execution.PipelineExecutionId"}]}}
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": path}}
    arguments = {
        "RoleArn": ROLE,
        "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
        "InputDataConfig": [{"ChannelName": "train", "DataSource": source}],
        "OutputDataConfig": {"S3OutputPath": "s3://b/o"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
    }
    client = Client(endpoint)
    execution = client.start({"Name": "T", "Type": "Training", "Arguments": arguments})
    client.wait(execution, "Failed")
    reason = client.steps(execution)["T"]["FailureReason"]
    assert reason.startswith("ClientError: Failed to invoke sagemaker:CreateTrainingJob. Error Details: "), reason
    assert "/etc" in reason
    assert "--allow-path" in reason


@pytest.mark.slow(1)
def test_what_the_owner_lets_stand_in_for_steps(make_endpoint: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text("def handler(event, context):\n    return {'n': event['a'] + 1}\n")
    step: dict[str, Any] = {
        "Name": "L",
        "Type": "Lambda",
        "FunctionArn": "arn:aws:lambda:eu-west-1:123456789012:function:f",
    }
    step |= {"Arguments": {"a": 1}, "OutputParameters": [{"OutputName": "n", "OutputType": "Integer"}]}
    end = {"Name": "F", "Type": "Fail", "Arguments": {"ErrorMessage": {"Get": "Steps.L.OutputParameters['n']"}}}
    stand_ins = {"L": {"Python": "step.py:handler"}, "Unknown": {"Skip": True}}
    with make_endpoint(options=Options(stand_ins=stand_ins, stand_in_folder=str(tmp_path))) as endpoint:
        client = Client(endpoint)
        execution = client.start(step, end)
        client.wait(execution, "Failed")
        assert client.steps(execution)["F"]["FailureReason"] == "2"


@pytest.mark.slow(0.5)
def test_the_outcome_of_a_condition_in_a_text(endpoint: Any) -> None:
    condition = {"Type": "Equals", "LeftValue": 1, "RightValue": 2}
    check = {"Name": "C", "Type": "Condition", "Arguments": {"Conditions": [condition], "IfSteps": [], "ElseSteps": []}}
    text = {"Std:Join": {"On": " ", "Values": ["equal:", {"Get": "Steps.C.Outcome"}]}}
    client = Client(endpoint)
    execution = client.start(check, {"Name": "F", "Type": "Fail", "Arguments": {"ErrorMessage": text}})
    client.wait(execution, "Failed")
    assert client.steps(execution)["F"]["FailureReason"] == "equal: false"
    assert client.steps(execution)["C"]["Metadata"] == {"Condition": {"Outcome": "False"}}


@pytest.mark.slow(2)
def test_a_retry_runs_what_has_failed_and_nothing_else(make_endpoint: Callable[..., Any], tmp_path: Path) -> None:
    program = "import os\ndef handler(event, context):\n    open(event['name'], 'a').write('x')\n    os.stat('there')\n"
    (tmp_path / "second.py").write_text(program)
    (tmp_path / "first.py").write_text(program.replace("'there'", "'.'"))
    function = {"Type": "Lambda", "FunctionArn": "arn:aws:lambda:eu-west-1:123456789012:function:f"}
    first = {"Name": "A", "Arguments": {"name": "first"}, **function}
    second = {"Name": "B", "Arguments": {"name": "second"}, "DependsOn": ["A"], **function}
    stand_ins = {"A": {"Python": "first.py:handler"}, "B": {"Python": "second.py:handler"}}
    with make_endpoint(options=Options(stand_ins=stand_ins, stand_in_folder=str(tmp_path))) as endpoint:
        client = Client(endpoint)
        execution = client.start(first, second)
        client.wait(execution, "Failed")
        (tmp_path / "there").touch()
        client.api.retry_pipeline_execution(PipelineExecutionArn=execution)
        client.wait(execution, "Succeeded")
        assert [(tmp_path / each).read_text() for each in ("first", "second")] == ["x", "xx"]
        assert {name: each["StepStatus"] for name, each in client.steps(execution).items()} == {
            "B": "Succeeded",
            "A": "Succeeded",
        }
