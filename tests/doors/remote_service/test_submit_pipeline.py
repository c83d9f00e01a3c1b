"""`smlocal submit` of a pipeline against a service in another process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.doors.remote_service.conftest import AwsService
from tests.kit import Run

ROLE = "arn:aws:iam::123456789012:role/P"
FOREVER = "trap 'exit 0' TERM; while :; do sleep 0.1; done"


def training(image: str) -> dict[str, Any]:
    return {
        "Name": "Train",
        "Type": "Training",
        "CacheConfig": {"Enabled": True},
        "Arguments": {
            "RoleArn": ROLE,
            "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
            "OutputDataConfig": {"S3OutputPath": "s3://piped/out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
            "StoppingCondition": {"MaxRuntimeInSeconds": 1800},
            "Environment": {"SCRIPT": {"Get": "Parameters.Script"}},
        },
    }


def definition(image: str) -> dict[str, Any]:
    """A job, then a condition on a parameter."""
    condition = {"Type": "Equals", "LeftValue": {"Get": "Parameters.Good"}, "RightValue": True}
    return {
        "Version": "2020-12-01",
        "Parameters": [
            {"Name": "Script", "Type": "String", "DefaultValue": "true"},
            {"Name": "Good", "Type": "Boolean", "DefaultValue": True},
        ],
        "Steps": [
            training(image),
            {
                "Name": "Check",
                "Type": "Condition",
                "DependsOn": ["Train"],
                "Arguments": {
                    "Conditions": [condition],
                    "IfSteps": [],
                    "ElseSteps": [{"Name": "Stop", "Type": "Fail", "Arguments": {"ErrorMessage": "it is bad"}}],
                },
            },
        ],
    }


@pytest.fixture
def file(tmp_path: Path, aws_service: AwsService) -> Path:
    client = aws_service.client("s3")
    if "piped" not in [each["Name"] for each in client.list_buckets()["Buckets"]]:
        region = {"LocationConstraint": client.meta.region_name}
        client.create_bucket(Bucket="piped", CreateBucketConfiguration=region)
    path = tmp_path / "pipeline.json"
    path.write_text(json.dumps(definition(aws_service.image)))
    return path


@pytest.fixture
def submit(file: Path, aws_service: AwsService, smlocal_run: Callable[..., Any]) -> Run:
    """Runs the command as a user of the service, with a role."""

    def run(*arguments: str | Path) -> Any:
        return smlocal_run("submit", file, "--role", ROLE, *arguments, env=aws_service.environment, cwd=file.parent)

    return run


def executions(service: AwsService, name: str) -> list[dict[str, Any]]:
    client = service.client("sagemaker")
    found: list[dict[str, Any]] = client.list_pipeline_executions(PipelineName=name)["PipelineExecutionSummaries"]
    return found


@pytest.mark.slow(9)
def test_a_pipeline_is_made_started_and_followed_to_its_end(file: Path, submit: Run, aws_service: AwsService) -> None:
    given = ("--name", "psubmit", "--yes")
    done = submit(*given, "-p", "Script=exit 0", "--report", "report.json")
    assert done.returncode == 0, done.stderr
    for part in (
        "pipeline psubmit: it is created",
        "may take: at most 0.5 h of ml.m5.large",
        "psubmit   created · 3 steps · eu-west-1",
        "execution arn:aws:sagemaker:eu-west-1:123456789012:pipeline/psubmit/execution/",
        "-train-",
        "✔ Train",
        "✔ Check",
        "true",
        "Succeeded in ",
    ):
        assert part in done.stderr, done.stderr
    report = json.loads((file.parent / "report.json").read_text())
    assert report["PipelineExecutionStatus"] == "Succeeded"
    client = aws_service.client("sagemaker")
    there = client.describe_pipeline(PipelineName="psubmit")
    assert there["RoleArn"] == ROLE
    assert json.loads(there["PipelineDefinition"]) == definition(aws_service.image)
    values = client.list_pipeline_parameters_for_execution(PipelineExecutionArn=report["PipelineExecutionArn"])
    assert {each["Name"]: each["Value"] for each in values["PipelineParameters"]} == {
        "Script": "exit 0",
        "Good": "true",
    }

    failed = submit(*given, "-p", "Script=exit 0", "-p", "Good=false", "--json")
    assert failed.returncode == 1
    for part in (
        "pipeline psubmit: the service has it, and it stays as it is",
        "from the cache: ",
        "✗ Stop",
        "it is bad",
        "Step failure: One or multiple steps failed.",
    ):
        assert part in failed.stderr, failed.stderr
    assert json.loads(failed.stdout)["PipelineExecutionStatus"] == "Failed"

    changed = definition(aws_service.image)
    changed["Parameters"][0]["DefaultValue"] = "exit 0"
    file.write_text(json.dumps({**changed, "Local": {"Select": ["Check"], "Source": report["PipelineExecutionArn"]}}))
    selected = submit(*given, "--no-wait")
    assert selected.returncode == 0, selected.stderr
    assert "the service has one of this name, which is replaced (UpdatePipeline)" in selected.stderr
    answer = client.describe_pipeline_execution(PipelineExecutionArn=selected.stdout.strip())
    assert answer["SelectiveExecutionConfig"]["SelectedSteps"] == [{"StepName": "Check"}]
    assert json.loads(client.describe_pipeline(PipelineName="psubmit")["PipelineDefinition"]) == changed


@pytest.mark.slow(2)
def test_who_does_not_say_yes_gets_no_pipeline(submit: Run, aws_service: AwsService) -> None:
    done = submit("--name", "psubmit-unasked")
    assert done.returncode == 2
    assert "there is no terminal" in done.stderr
    client = aws_service.client("sagemaker")
    assert client.list_pipelines(PipelineNamePrefix="psubmit-unasked")["PipelineSummaries"] == []


@pytest.mark.slow(5)
def test_a_cancelled_ci_job_leaves_no_execution_running(
    file: Path, aws_service: AwsService, smlocal_home: Path
) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "SMLOCAL_"))}
    command = [sys.executable, "-m", "smlocal", "submit", str(file), "--role", ROLE, "--name", "psubmit-cancelled"]
    with subprocess.Popen(
        [*command, "-p", f"Script={FOREVER}", "--yes"],
        env={**kept, **aws_service.environment, "SMLOCAL_HOME": str(smlocal_home)},
        cwd=file.parent,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert any("● Train" in line for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()
        assert process.wait(timeout=120) == 128 + signal.SIGTERM, said
    assert "Stopping: SIGTERM for the jobs of its steps" in said
    (execution,) = executions(aws_service, "psubmit-cancelled")
    assert execution["PipelineExecutionStatus"] == "Stopped"
