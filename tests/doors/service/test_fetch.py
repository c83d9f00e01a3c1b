"""A job of the service, fetched and run here."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from botocore.exceptions import WaiterError
from tests.doors.service.conftest import AwsService
from tests.kit import Run

JOB = "fetched-failing"


@pytest.fixture(scope="module")
def failed(aws_service: AwsService, image: Callable[[str], str]) -> AwsService:
    """The service with a job that has failed."""
    with pytest.raises(WaiterError):
        aws_service.run(
            JOB,
            image("sh"),
            "echo region $AWS_REGION; printf 'no rows in %s' $COLUMN > /opt/ml/output/failure; exit 3",
            Tags=[{"Key": "team", "Value": "a"}],
            HyperParameters={"epochs": "3"},
        )
    return aws_service


@pytest.mark.slow(2)
def test_it_fails_here_as_it_did_there(
    failed: AwsService,
    smlocal_run: Run,
    assert_nothing_left: Callable[[str], None],
    claim_names: Callable[[Path], None],
    tmp_path: Path,
) -> None:
    claim_names(failed.home)
    fetched = smlocal_run("fetch", JOB, env=failed.environment, cwd=tmp_path)
    assert fetched.returncode == 0, fetched.stderr
    assert fetched.stderr.startswith("wrote job.yaml\n")
    job = yaml.safe_load((tmp_path / "job.yaml").read_text())
    assert job["Tags"] == [{"Key": "team", "Value": "a"}]
    assert job["Local"] == {"Region": "eu-west-1"}

    done = smlocal_run("run", "job.yaml", "--name", "fetched-here", "--json", cwd=tmp_path)
    assert done.returncode == 1
    here, there = json.loads(done.stdout), failed.client("sagemaker").describe_training_job(TrainingJobName=JOB)
    assert here["FailureReason"] == there["FailureReason"]
    assert "region eu-west-1" in done.stderr
    for same in ("HyperParameters", "Environment", "AlgorithmSpecification", "ResourceConfig", "RoleArn"):
        assert here[same] == there[same]
    assert_nothing_left("fetched-here")

    # The answer itself, as a program saves it: a job in the same words, without a job file in between.
    (tmp_path / "answer.json").write_text(json.dumps(there, default=str))
    run = smlocal_run("run", "answer.json", "--json", cwd=tmp_path)
    assert run.returncode == 1
    assert f"answer.json describes the training job {JOB} (Failed, eu-west-1): its request is used" in run.stderr
    again = json.loads(run.stdout)
    assert again["FailureReason"] == there["FailureReason"]
    assert again["TrainingJobName"].startswith(f"{JOB}-2")
    assert ":sagemaker:eu-west-1:123456789012:" in again["TrainingJobArn"]
    checked = smlocal_run("check", "answer.json", "--only", "entrypoint-shell-form", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert "its request is used" in checked.stderr


@pytest.mark.slow(1)
def test_an_arn_and_what_the_service_does_not_have(failed: AwsService, smlocal_run: Run, tmp_path: Path) -> None:
    arn = failed.client("sagemaker").describe_training_job(TrainingJobName=JOB)["TrainingJobArn"]
    elsewhere = {**failed.environment, "AWS_DEFAULT_REGION": "us-west-2"}
    by_arn = smlocal_run("fetch", arn, "-o", "-", env=elsewhere, cwd=tmp_path)
    assert by_arn.returncode == 0, by_arn.stderr
    assert yaml.safe_load(by_arn.stdout)["HyperParameters"] == {"epochs": "3"}

    unknown = smlocal_run("fetch", "fetched-none", env=failed.environment, cwd=tmp_path)
    assert unknown.returncode == 2
    assert "there is no training job fetched-none in eu-west-1" in unknown.stderr
    assert "[service-job-unknown]" in unknown.stderr
    assert list(tmp_path.glob("*.yaml")) == []


@pytest.mark.slow(1)
def test_our_own_description_of_a_job_is_fetched_too(failed: AwsService, smlocal_run: Run, tmp_path: Path) -> None:
    answer = smlocal_run("describe", JOB, "--json", env={"SMLOCAL_HOME": str(failed.home)}, check=True).stdout
    (tmp_path / "own.json").write_text(answer)
    assert smlocal_run("fetch", "own.json", cwd=tmp_path).returncode == 0
    job = yaml.safe_load((tmp_path / "job.yaml").read_text())
    assert job["Tags"] == [{"Key": "team", "Value": "a"}]
    assert smlocal_run("validate", "job.yaml", "own.json", cwd=tmp_path).returncode == 0


@pytest.mark.slow(1)
def test_a_processing_job_is_fetched_and_runs_here(
    aws_service: AwsService, image: Callable[[str], str], smlocal_run: Run, tmp_path: Path
) -> None:
    client = aws_service.client("sagemaker")
    client.create_processing_job(
        ProcessingJobName="fetched-processing",
        RoleArn="arn:aws:iam::123456789012:role/Processor",
        AppSpecification={
            "ImageUri": image("sh"),
            "ContainerEntrypoint": ["sh", "-c", 'printf "in $AWS_REGION" > /opt/ml/output/message'],
        },
        ProcessingResources={"ClusterConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}},
        Tags=[{"Key": "team", "Value": "a"}],
    )
    client.get_waiter("processing_job_completed_or_stopped").wait(ProcessingJobName="fetched-processing")
    there = client.describe_processing_job(ProcessingJobName="fetched-processing")

    fetched = smlocal_run("fetch", there["ProcessingJobArn"], env=aws_service.environment, cwd=tmp_path)
    assert fetched.returncode == 0, fetched.stderr
    job = yaml.safe_load((tmp_path / "job.yaml").read_text())
    assert job["Tags"] == [{"Key": "team", "Value": "a"}]
    assert job["Local"] == {"Region": "eu-west-1"}
    done = smlocal_run("run", "job.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ExitMessage"] == there["ExitMessage"] == "in eu-west-1"

    (tmp_path / "answer.json").write_text(json.dumps(there, default=str))
    again = smlocal_run("run", "answer.json", "--json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "describes the processing job fetched-processing (Completed, eu-west-1): its request is" in again.stderr
    assert smlocal_run("validate", "answer.json", cwd=tmp_path).returncode == 0

    unknown = there["ProcessingJobArn"].replace("fetched-", "no-")
    refused = smlocal_run("fetch", unknown, "-o", "-", env=aws_service.environment, cwd=tmp_path)
    assert refused.returncode == 2
    assert "there is no processing job no-processing in eu-west-1" in refused.stderr
