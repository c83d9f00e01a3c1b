"""`smlocal submit` without a service: what is said before anything could be sent."""

import json
import os
from pathlib import Path

import pytest
import yaml

from smlocal.cli.main import run_command_line
from smlocal.cli.submitting import _said_if_ended
from smlocal.cli.terminal.screen import Screen

JOB = """\
TrainingJobName: one
RoleArn: arn:aws:iam::123456789012:role/Trainer
AlgorithmSpecification: {TrainingImage: "123456789012.dkr.ecr.eu-west-1.amazonaws.com/held:1", TrainingInputMode: File}
InputDataConfig:
  - ChannelName: train
    DataSource: {S3DataSource: {S3DataType: S3Prefix, S3Uri: ./data}}
OutputDataConfig: {S3OutputPath: "s3://bucket/out"}
ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1, VolumeSizeInGB: 10}
StoppingCondition: {MaxRuntimeInSeconds: 3600}
Local: {Region: eu-central-1}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a job, and no AWS configuration at all."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("one")
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_a_dry_run_needs_no_credentials(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["submit", "job.yaml", "--upload-to", "s3://bucket/in", "--dry-run"]) == 0
    said = capfd.readouterr()
    request = yaml.safe_load(said.out)
    uri = request["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"]
    assert "Local" not in request
    for part in (
        'channel "train": 1 file, 3 B',
        f"to {uri}",
        "3 B  a.txt",
        "may take: 1 × ml.m5.large for at most 1 h: 1 instance-hour",
        "aws sagemaker create-training-job --cli-input-yaml file://request.yaml --region eu-central-1",
    ):
        assert part in said.err
    assert run_command_line(["submit", "job.yaml", "--upload-to", "s3://bucket/in", "--dry-run", "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert document["Request"] == request
    assert document["Uploads"][0]["Files"] == [{"Path": "a.txt", "Bytes": 3}]


def test_the_configuration_file_and_flags_say_what_the_job_file_does_not(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / "smlocal.toml").write_text('output = "./artifacts"\n[submit]\nupload-to = "s3://bucket/own"\n')
    given = ["--output-to", "s3://bucket/other", "--name", "two", "-p", "epochs=3", "--max-run", "60", "--dry-run"]
    assert run_command_line(["submit", "job.yaml", *given]) == 0
    request = yaml.safe_load(capfd.readouterr().out)
    assert request["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"].startswith("s3://bucket/own/train/")
    assert request["OutputDataConfig"] == {"S3OutputPath": "s3://bucket/other"}
    assert (request["TrainingJobName"], request["HyperParameters"]) == ("two", {"epochs": "3"})
    assert request["StoppingCondition"] == {"MaxRuntimeInSeconds": 60}


@pytest.mark.usefixtures("here")
def test_without_credentials_nothing_is_asked_and_nothing_sent(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["submit", "job.yaml", "--upload-to", "s3://bucket/in", "--yes"]) == 3
    assert "[credentials-missing]" in capfd.readouterr().err


def test_what_is_wrong_comes_before_credentials(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "job.yaml").write_text(JOB.replace("RoleArn", "# RoleArn").replace("one", "no_name"))
    assert run_command_line(["submit", "job.yaml", "--upload-to", "s3://bucket/in", "--yes"]) == 2
    said = capfd.readouterr().err
    assert "2 problems in job.yaml" in said
    assert "--role arn:aws:iam::ACCOUNT:role/NAME" in said
    assert run_command_line(["submit", "job.yaml"]) == 2
    said = capfd.readouterr().err
    assert "2 problems in job.yaml" in said
    assert "--role" in said  # all that is missing, at once
    assert "--upload-to s3://bucket/some/prefix" in said
    (here / "job.yaml").write_text(JOB)
    assert run_command_line(["submit", "job.yaml"]) == 2
    assert "[upload-prefix]" in capfd.readouterr().err


@pytest.mark.usefixtures("here")
def test_a_job_without_a_file(capfd: pytest.CaptureFixture[str]) -> None:
    image = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/held:1"
    given = [
        "--image",
        image,
        "--role",
        "arn:aws:iam::123456789012:role/T",
        "--output-to",
        "s3://bucket/out",
        "--dry-run",
    ]
    assert run_command_line(["submit", *given]) == 0
    said = capfd.readouterr()
    request = yaml.safe_load(said.out)
    assert request["TrainingJobName"].startswith("held-")
    assert request["OutputDataConfig"] == {"S3OutputPath": "s3://bucket/out"}
    assert "no MaxRuntimeInSeconds" in said.err
    assert "24 instance-hours" in said.err


class Warnings(Screen):
    """Keeps what a screen would show."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def warning(self, text: str) -> None:
        self.said.append(text)


@pytest.mark.parametrize("signalled", [KeyboardInterrupt(), SystemExit(143)])
def test_who_ends_the_upload_is_told_what_there_is(signalled: BaseException) -> None:
    screen = Warnings()
    with pytest.raises(type(signalled)), _said_if_ended(screen, "no job was made"):
        raise signalled
    with _said_if_ended(screen, "something else"):
        pass
    assert screen.said == ["no job was made"]
