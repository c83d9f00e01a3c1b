"""A tuning job of the service, fetched and run here."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.doors.service.conftest import ROLE, AwsService
from tests.jobs.tuning.conftest import LOSS
from tests.kit import Run, until

JOB = "tsubmit-fetched"


@pytest.mark.slow(6)
def test_a_tuning_job_is_fetched_and_runs_here(
    aws_service: AwsService, image: Callable[[str], str], smlocal_run: Run, tmp_path: Path
) -> None:
    client = aws_service.client("sagemaker")
    client.create_hyper_parameter_tuning_job(
        HyperParameterTuningJobName=JOB,
        HyperParameterTuningJobConfig={
            "Strategy": "Grid",
            "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
            "ResourceLimits": {"MaxParallelTrainingJobs": 2},
            "ParameterRanges": {"CategoricalParameterRanges": [{"Name": "n", "Values": ["2", "1"]}]},
        },
        TrainingJobDefinition={
            "AlgorithmSpecification": {
                "TrainingImage": image("sh"),
                "TrainingInputMode": "File",
                "MetricDefinitions": [{"Name": "loss", "Regex": "^loss=([0-9.]+)$"}],
            },
            "RoleArn": ROLE,
            "OutputDataConfig": {"S3OutputPath": "s3://artifacts/models"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 240},
            "Environment": {"SCRIPT": LOSS},
        },
        Tags=[{"Key": "team", "Value": "a"}],
    )

    def described() -> dict[str, Any]:
        answer: dict[str, Any] = client.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName=JOB)
        return answer

    until(lambda: described()["HyperParameterTuningJobStatus"] != "InProgress")
    there = described()

    fetched = smlocal_run("fetch", there["HyperParameterTuningJobArn"], env=aws_service.environment, cwd=tmp_path)
    assert fetched.returncode == 0, fetched.stderr
    job = yaml.safe_load((tmp_path / "job.yaml").read_text())
    assert job["Tags"] == [{"Key": "team", "Value": "a"}]
    assert job["Local"] == {"Region": "eu-west-1"}
    assert "StaticHyperParameters" not in job["TrainingJobDefinition"]
    done = smlocal_run("run", "job.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    here = json.loads(done.stdout)
    assert here["BestTrainingJob"]["TunedHyperParameters"] == there["BestTrainingJob"]["TunedHyperParameters"]
    assert here["TrainingJobDefinition"] == there["TrainingJobDefinition"]

    (tmp_path / "answer.json").write_text(json.dumps(there, default=str))
    again = smlocal_run("plan", "answer.json", "--json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert f"describes the tuning job {JOB} (Completed, eu-west-1): its request is used" in again.stderr
    assert json.loads(again.stdout)["Search"]["Combinations"] == 2
    assert smlocal_run("validate", "answer.json", cwd=tmp_path).returncode == 0
    ran = smlocal_run("run", "answer.json", "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["HyperParameterTuningJobName"].startswith(f"{JOB[:13]}")

    unknown = there["HyperParameterTuningJobArn"].replace("-fetched", "-unknown")
    refused = smlocal_run("fetch", unknown, "-o", "-", env=aws_service.environment, cwd=tmp_path)
    assert refused.returncode == 2
    assert "there is no tuning job tsubmit-unknown in eu-west-1" in refused.stderr
