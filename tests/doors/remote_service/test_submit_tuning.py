"""`smlocal submit` of a tuning job against a service in another process."""

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
from tests.jobs.tuning.conftest import LOSS
from tests.kit import Run, until

BUCKET = "submitted"
TO = f"s3://{BUCKET}/in"


@pytest.fixture
def file(tmp_path: Path, aws_service: AwsService) -> Path:
    """A tuning file with a local channel; the service has the bucket."""
    client = aws_service.client("s3")
    if BUCKET not in [each["Name"] for each in client.list_buckets()["Buckets"]]:
        client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": client.meta.region_name})
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text(f"of {tmp_path.name}")
    source = {"S3DataType": "S3Prefix", "S3Uri": "./data", "S3DataDistributionType": "FullyReplicated"}
    definition = {
        "AlgorithmSpecification": {
            "TrainingImage": aws_service.image,
            "TrainingInputMode": "File",
            "MetricDefinitions": [{"Name": "loss", "Regex": "^loss=([0-9.]+)$"}],
        },
        "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": source}}],
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 1800},
        "Environment": {"SCRIPT": f"cp /opt/ml/input/data/train/a.txt /opt/ml/model/; {LOSS}"},
    }
    request = {
        "HyperParameterTuningJobConfig": {
            "Strategy": "Grid",
            "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
            "ResourceLimits": {"MaxParallelTrainingJobs": 2},
            "ParameterRanges": {"CategoricalParameterRanges": [{"Name": "n", "Values": ["2", "1"]}]},
        },
        "TrainingJobDefinition": definition,
        "Local": {"Staging": "copy"},
    }
    (tmp_path / "tuning.json").write_text(json.dumps(request))
    return tmp_path / "tuning.json"


@pytest.fixture
def submit(file: Path, aws_service: AwsService, smlocal_run: Callable[..., Any]) -> Run:
    """Runs the command as a user of the service, with a role and a place for artifacts."""
    given = ("--upload-to", TO, "--role", "arn:aws:iam::123456789012:role/T", "--output-to", f"s3://{BUCKET}/out")

    def run(*arguments: str | Path) -> Any:
        return smlocal_run("submit", file, *given, *arguments, env=aws_service.environment, cwd=file.parent)

    return run


def described(service: AwsService, name: str) -> dict[str, Any]:
    client = service.client("sagemaker")
    answer: dict[str, Any] = client.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName=name)
    return answer


@pytest.mark.slow(8)
def test_a_tuning_job_is_uploaded_made_and_followed_to_its_end(
    file: Path, submit: Run, aws_service: AwsService
) -> None:
    done = submit("--name", "tsubmit-followed", "--yes", "--report", "report.json")
    assert done.returncode == 0, done.stderr
    for part in (
        "to upload: 1 file, ",
        "may take: 2 training jobs, 2 at once; at most 1 h of ml.m5.large",
        f"tsubmit-followed   {aws_service.image} · 2 training jobs, 2 at once · eu-west-1",
        "Completed, loss 1 with n=1",
        "Completed, loss 2 with n=2",
        "Completed in ",
        "2 completed",
    ):
        assert part in done.stderr, done.stderr
    there = described(aws_service, "tsubmit-followed")
    definition = there["TrainingJobDefinition"]
    assert definition["RoleArn"] == "arn:aws:iam::123456789012:role/T"
    assert definition["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"].startswith(f"{TO}/train/")
    assert there["BestTrainingJob"]["TunedHyperParameters"] == {"n": "1"}
    report = json.loads((file.parent / "report.json").read_text())
    assert report["HyperParameterTuningJobStatus"] == "Completed"
    client = aws_service.client("s3")
    listed = client.list_objects_v2(Bucket=BUCKET, Prefix="out/tsubmit-followed-")["Contents"]
    assert sum(each["Key"].endswith("/output/model.tar.gz") for each in listed) == 2

    before = aws_service.keys(BUCKET)
    (file.parent / "data" / "more").write_text("more")
    again = submit("--name", "tsubmit-followed", "--yes")
    assert again.returncode == 2
    assert "A tuning job with the name 'tsubmit-followed' already exists on the service" in again.stderr
    assert aws_service.keys(BUCKET) == before


@pytest.mark.slow(6)
def test_a_failed_search_says_why_and_nobody_has_to_wait(file: Path, submit: Run, aws_service: AwsService) -> None:
    request = json.loads(file.read_text())
    request["TrainingJobDefinition"]["Environment"]["SCRIPT"] = "printf 'it broke' >/opt/ml/output/failure; exit 3"
    file.write_text(json.dumps(request))
    done = submit("--name", "tsubmit-fails", "--yes", "--json")
    assert done.returncode == 1
    assert "failed: AlgorithmError: it broke, exit code: 3" in done.stderr
    assert json.loads(done.stdout)["FailureReason"] in done.stderr

    other = submit("--name", "tsubmit-not-followed", "--yes", "--no-wait")
    assert (other.returncode, other.stdout) == (0, "tsubmit-not-followed\n"), other.stderr
    assert "nothing to upload: 1 file in S3 already" in other.stderr
    until(lambda: described(aws_service, "tsubmit-not-followed")["HyperParameterTuningJobStatus"] != "InProgress")


@pytest.mark.slow(3)
def test_who_does_not_say_yes_gets_no_search(submit: Run, aws_service: AwsService) -> None:
    before = aws_service.keys(BUCKET)
    done = submit("--name", "tsubmit-unasked")
    assert done.returncode == 2
    assert "there is no terminal" in done.stderr
    assert aws_service.keys(BUCKET) == before
    client = aws_service.client("sagemaker")
    listed = client.list_hyper_parameter_tuning_jobs(NameContains="tsubmit-unasked")
    assert listed["HyperParameterTuningJobSummaries"] == []


@pytest.mark.slow(5)
def test_a_cancelled_ci_job_leaves_no_search_running(file: Path, aws_service: AwsService, smlocal_home: Path) -> None:
    request = json.loads(file.read_text())
    definition = request["TrainingJobDefinition"]
    definition["Environment"]["SCRIPT"] = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
    definition.update(RoleArn="arn:aws:iam::123456789012:role/T", OutputDataConfig={"S3OutputPath": f"s3://{BUCKET}/o"})
    file.write_text(json.dumps(request))
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "SMLOCAL_"))}
    command = [sys.executable, "-m", "smlocal", "submit", str(file), "--upload-to", TO, "--name", "tsubmit-cancelled"]
    with subprocess.Popen(
        [*command, "--yes"],
        env={**kept, **aws_service.environment, "SMLOCAL_HOME": str(smlocal_home)},
        cwd=file.parent,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert any(line.startswith("  InProgress: ") for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()
        assert process.wait(timeout=120) == 128 + signal.SIGTERM, said
    assert described(aws_service, "tsubmit-cancelled")["HyperParameterTuningJobStatus"] == "Stopped"
