"""`smlocal submit` of a tuning job without a service: what is said before anything could be sent."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from smlocal.cli.main import run_command_line

IMAGE = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/held:1"
ROLE = "arn:aws:iam::123456789012:role/Trainer"
DRY = ["--upload-to", "s3://bucket/in", "--dry-run"]


def definition(**more: Any) -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": "./data"}
    return {
        "RoleArn": ROLE,
        "AlgorithmSpecification": {
            "TrainingImage": IMAGE,
            "TrainingInputMode": "File",
            "MetricDefinitions": [{"Name": "loss", "Regex": "loss=(.*)"}],
        },
        "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": source}}],
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
        **more,
    }


OBJECTIVE = {"Type": "Minimize", "MetricName": "loss"}
RANGES = {"ContinuousParameterRanges": [{"Name": "lr", "MinValue": "0.1", "MaxValue": "1"}]}
LIMITS = {"MaxNumberOfTrainingJobs": 10, "MaxParallelTrainingJobs": 2}


def request(**more: Any) -> dict[str, Any]:
    return {
        "HyperParameterTuningJobName": "held",
        "HyperParameterTuningJobConfig": {
            "Strategy": "Random",
            "HyperParameterTuningJobObjective": OBJECTIVE,
            "ResourceLimits": LIMITS,
            "ParameterRanges": RANGES,
        },
        "TrainingJobDefinition": definition(),
        "Local": {"Region": "eu-west-1"},
        **more,
    }


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data, and no AWS configuration at all."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("one")
    return tmp_path


def write(here: Path, data: dict[str, Any]) -> str:
    (here / "tuning.yaml").write_text(yaml.safe_dump(data))
    return "tuning.yaml"


def test_a_dry_run_says_what_the_search_may_take(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = write(here, request())
    assert run_command_line(["submit", path, *DRY]) == 0
    said = capfd.readouterr()
    sent = yaml.safe_load(said.out)
    uri = sent["TrainingJobDefinition"]["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"]
    assert uri.startswith("s3://bucket/in/train/")
    assert "Local" not in sent
    assert "StaticHyperParameters" not in sent["TrainingJobDefinition"]
    for part in (
        'channel "train": 1 file, 3 B',
        "may take: 10 training jobs, 2 at once; at most 20 h of ml.m5.large",
        "aws sagemaker create-hyper-parameter-tuning-job --cli-input-yaml file://request.yaml --region eu-west-1",
    ):
        assert part in said.err
    assert run_command_line(["submit", path, *DRY, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["Request"] == sent


def test_a_name_comes_from_the_file_and_a_role_from_the_configuration(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = request(HyperParameterTuningJobName=None, TrainingJobDefinition=definition(RoleArn=None))
    (here / "smlocal.toml").write_text(f'role = "{ROLE}"\n')
    assert run_command_line(["submit", write(here, given), *DRY]) == 0
    sent = yaml.safe_load(capfd.readouterr().out)
    assert sent["HyperParameterTuningJobName"].startswith("tuning-")
    assert sent["TrainingJobDefinition"]["RoleArn"] == ROLE
    assert run_command_line(["submit", "tuning.yaml", *DRY, "--role", ROLE + "2", "--name", "two"]) == 0
    sent = yaml.safe_load(capfd.readouterr().out)
    assert (sent["HyperParameterTuningJobName"], sent["TrainingJobDefinition"]["RoleArn"]) == ("two", ROLE + "2")


def test_definitions_share_their_data_and_code(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = request(
        HyperParameterTuningJobConfig={"Strategy": "Random", "ResourceLimits": LIMITS},
        TrainingJobDefinition=None,
        TrainingJobDefinitions=[
            definition(DefinitionName=name, TuningObjective=OBJECTIVE, HyperParameterRanges=RANGES, **more)
            for name, more in (("a", {}), ("b", {"EnableNetworkIsolation": True}))
        ],
        Local={"Code": "./code", "Region": "eu-west-1"},
    )
    (here / "code").mkdir()
    (here / "code" / "train.py").write_text("print()")
    assert run_command_line(["submit", write(here, given), *DRY, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [each["What"] for each in found["Uploads"]] == ['channel "train"', "the code"]
    assert found["Uploads"][0]["To"].startswith("s3://bucket/in/train/")
    first, second = found["Request"]["TrainingJobDefinitions"]
    archive = f"{found['Uploads'][1]['To']}sourcedir.tar.gz"
    assert first["StaticHyperParameters"] == {"sagemaker_submit_directory": json.dumps(archive)}
    assert [each["ChannelName"] for each in second["InputDataConfig"]] == ["train", "code"]
    assert "/opt/ml/input/data/code/" in second["StaticHyperParameters"]["sagemaker_submit_directory"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"TrainingJobDefinition": definition(RoleArn=None)}, "--role arn:aws:iam::ACCOUNT:role/NAME"),
        ({"TrainingJobDefinition": definition(OutputDataConfig={"S3OutputPath": "./out"})}, "--output-to"),
        ({"TrainingJobDefinition": definition(StaticHyperParameters={"lr": "1"})}, "lr"),
        ({"WarmStartConfig": {"WarmStartType": "Sometimes"}}, "IdenticalDataAndAlgorithm, TransferLearning"),
        ({"HyperParameterTuningJobName": "x" * 33}, "length less than or equal to 32"),
    ],
)
def test_what_the_service_refuses_is_said_before_data_is_read(
    here: Path, change: dict[str, Any], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / "data" / "a.txt").unlink()
    (here / "data").rmdir()
    assert run_command_line(["submit", write(here, request(**change)), *DRY]) == 2
    assert said in capfd.readouterr().err


def test_an_image_of_this_machine_is_refused(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = definition(AlgorithmSpecification={**definition()["AlgorithmSpecification"], "TrainingImage": "held"})
    assert run_command_line(["submit", write(here, request(TrainingJobDefinition=given)), *DRY]) == 2
    said = capfd.readouterr().err
    assert "held is not an image in Amazon ECR" in said
    assert "tuning.yaml:" in said
    place = "TrainingJobDefinition.AlgorithmSpecification.TrainingImage"
    assert f"with the number of your account, and write that name into {place}:" in said
    assert "--image" not in said
    assert "TrainingImageConfig" not in said


def test_what_runs_only_on_the_service_is_submitted(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = request(Autotune={"Mode": "Enabled"})
    given["HyperParameterTuningJobConfig"]["ResourceLimits"] = {"MaxParallelTrainingJobs": 2}
    assert run_command_line(["submit", write(here, given), *DRY]) == 0
    said = capfd.readouterr()
    assert yaml.safe_load(said.out)["Autotune"] == {"Mode": "Enabled"}
    assert "2 at once; how many is chosen by the service" in said.err


@pytest.mark.usefixtures("here")
def test_without_credentials_nothing_is_sent(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["submit", write(here, request()), "--upload-to", "s3://bucket/in", "--yes"]) == 3
    assert "[credentials-missing]" in capfd.readouterr().err


def test_flags_about_one_training_job_are_refused(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["submit", write(here, request()), *DRY, "-p", "epochs=3"]) == 2
    assert "Set it in the file of the tuning job" in capfd.readouterr().err
