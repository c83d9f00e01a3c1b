"""A pipeline of the service and an execution of it, fetched and run here."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.doors.service.conftest import ROLE, AwsService
from tests.kit import Run, until

DEFINITION: dict[str, Any] = {
    "Version": "2020-12-01",
    "Parameters": [
        {"Name": "Script", "Type": "String", "DefaultValue": "exit 1"},
        {"Name": "Image", "Type": "String"},
    ],
    "Steps": [
        {
            "Name": "Train",
            "Type": "Training",
            "Arguments": {
                "RoleArn": ROLE,
                "AlgorithmSpecification": {"TrainingImage": {"Get": "Parameters.Image"}, "TrainingInputMode": "File"},
                "OutputDataConfig": {"S3OutputPath": "s3://artifacts/models"},
                "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
                "StoppingCondition": {"MaxRuntimeInSeconds": 240},
                "Environment": {"SCRIPT": {"Get": "Parameters.Script"}},
            },
        }
    ],
}


@pytest.mark.slow(6)
def test_an_execution_is_fetched_and_runs_here_with_its_values(
    aws_service: AwsService, image: Callable[[str], str], smlocal_run: Run, tmp_path: Path
) -> None:
    client = aws_service.client("sagemaker")
    made = client.create_pipeline(
        PipelineName="Fetched", RoleArn=ROLE, PipelineDefinition=json.dumps(DEFINITION), ClientRequestToken="t" * 32
    )
    values = [{"Name": "Script", "Value": "exit 0"}, {"Name": "Image", "Value": image("sh")}]
    arn = client.start_pipeline_execution(PipelineName="Fetched", PipelineParameters=values)["PipelineExecutionArn"]

    def status() -> str:
        return str(client.describe_pipeline_execution(PipelineExecutionArn=arn)["PipelineExecutionStatus"])

    until(lambda: status() == "Succeeded")
    fetched = smlocal_run("fetch", arn, env=aws_service.environment, cwd=tmp_path)
    assert fetched.returncode == 0, fetched.stderr
    assert fetched.stderr.splitlines() == [
        "wrote pipeline.yaml",
        "  smlocal plan pipeline.yaml",
        "  smlocal run pipeline.yaml",
    ]
    file = yaml.safe_load((tmp_path / "pipeline.yaml").read_text())
    assert file["PipelineName"] == "Fetched"
    assert file["PipelineDefinition"] == DEFINITION
    assert file["Local"]["Parameters"] == {each["Name"]: each["Value"] for each in values}
    done = smlocal_run("run", "pipeline.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["PipelineExecutionStatus"] == "Succeeded"

    whole = smlocal_run("fetch", made["PipelineArn"], "-o", "whole.json", env=aws_service.environment, cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    assert json.loads((tmp_path / "whole.json").read_text())["Local"] == {"Region": "eu-west-1"}
    assert smlocal_run("validate", "whole.json", cwd=tmp_path).returncode == 0

    unknown = smlocal_run("fetch", f"{made['PipelineArn']}-2", "-o", "-", env=aws_service.environment, cwd=tmp_path)
    assert unknown.returncode == 2
    assert f"there is no pipeline {made['PipelineArn']}-2 in eu-west-1" in unknown.stderr
