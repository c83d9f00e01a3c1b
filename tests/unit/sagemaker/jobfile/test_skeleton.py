"""What `aws sagemaker create-training-job --generate-cli-skeleton` prints, given where a job file is expected."""

import json
from pathlib import Path
from typing import Any

import pytest

from smlocal.api.job_source import read_source
from smlocal.api.overrides import Overrides
from smlocal.cli.main import run_command_line
from smlocal.errors import RequestInvalidError, RequestSkeletonError

Json = dict[str, Any]


@pytest.fixture
def skeleton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Json:
    """The shape; tests with the CLI itself are in tests/clients."""
    monkeypatch.chdir(tmp_path)
    return {
        "TrainingJobName": "",
        "HyperParameters": {"KeyName": ""},
        "AlgorithmSpecification": {
            "TrainingImage": "",
            "AlgorithmName": "",
            "TrainingInputMode": "Pipe",
            "MetricDefinitions": [{"Name": "", "Regex": ""}],
        },
        "RoleArn": "",
        "OutputDataConfig": {"KmsKeyId": "", "S3OutputPath": "", "CompressionType": "GZIP"},
        "ResourceConfig": {"InstanceType": "ml.m4.xlarge", "InstanceCount": 0, "VolumeSizeInGB": 0},
        "VpcConfig": {"SecurityGroupIds": [""], "Subnets": [""]},
        "StoppingCondition": {"MaxRuntimeInSeconds": 0},
    }


def _fill(skeleton: Json) -> None:
    skeleton["AlgorithmSpecification"]["TrainingImage"] = "held:1"
    skeleton["OutputDataConfig"]["S3OutputPath"] = "s3://bucket/out"
    skeleton["ResourceConfig"]["InstanceCount"] = 1


@pytest.mark.parametrize("command", ["run", "plan", "validate", "check"])
def test_it_is_said_what_to_fill_in_and_what_to_remove(
    command: str, skeleton: Json, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("job.json").write_text(json.dumps(skeleton, indent=4))
    assert run_command_line([command, "job.json"]) == 2
    said = capfd.readouterr().err.removesuffix("not valid\n").splitlines()
    assert said[0].startswith("error: job.json is a skeleton of a request: 8 members are empty ")
    assert said[0].endswith(" [request-skeleton]")
    assert said[1:] == [
        "  job.json:7   fill in AlgorithmSpecification.TrainingImage",
        "  job.json:20   fill in OutputDataConfig.S3OutputPath",
        "  job.json:25   fill in ResourceConfig.InstanceCount",
        "  job.json   fill in or remove: TrainingJobName, HyperParameters, RoleArn, VpcConfig, StoppingCondition",
        "  When these are filled in, a job file without empty members:  smlocal fetch job.json --file new-job.yaml",
        "  More: smlocal help request-skeleton",
    ]


def test_the_command_that_is_named_makes_a_job_file_of_it(skeleton: Json, capfd: pytest.CaptureFixture[str]) -> None:
    _fill(skeleton)
    Path("job.json").write_text(json.dumps(skeleton, indent=4))
    assert run_command_line(["run", "job.json"]) == 2
    said = capfd.readouterr().err.splitlines()
    assert "  job.json:6   fill in or remove, of AlgorithmSpecification: AlgorithmName, MetricDefinitions" in said
    assert "  job.json:18   fill in or remove, of OutputDataConfig: KmsKeyId" in said
    (named,) = [line.partition(":  smlocal ")[2] for line in said if "smlocal fetch" in line]
    assert run_command_line(named.split()) == 0
    assert run_command_line(["validate", "new-job.yaml"]) == 0


def test_instance_groups_are_instances(skeleton: Json) -> None:
    _fill(skeleton)
    group = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "InstanceGroupName": "all"}
    skeleton["ResourceConfig"] = {"InstanceCount": 0, "InstanceGroups": [group], "VolumeKmsKeyId": ""}
    with pytest.raises(RequestSkeletonError) as caught:
        read_source(skeleton, Overrides(), strict=False)
    assert not any(line.partition("fill in ")[2].startswith("ResourceConfig.") for line in caught.value.details)
    # A dict is not a file, which a command could read.
    assert caught.value.remedy == ("Leave out empty members.",)
    # The endpoint answers in the words of the service.
    assert caught.value.service_message.startswith("13 validation errors detected: Value '' at 'trainingJobName'")


def test_one_empty_member_is_a_mistake_like_another(skeleton: Json) -> None:
    _fill(skeleton)
    del skeleton["OutputDataConfig"]["KmsKeyId"]
    request = {name: skeleton[name] for name in ("OutputDataConfig", "ResourceConfig", "StoppingCondition")}
    request["AlgorithmSpecification"] = {"TrainingImage": "held:1", "TrainingInputMode": ""}
    with pytest.raises(RequestInvalidError) as caught:
        read_source(request, Overrides(), strict=False)
    assert not isinstance(caught.value, RequestSkeletonError)


def test_empty_texts_in_an_unknown_member_make_no_skeleton() -> None:
    request = {
        "AlgorithmSpecification": {"TrainingImage": "held:1", "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "./out", "New": ["", "", ""]},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    }
    with pytest.raises(RequestInvalidError) as caught:
        read_source(request, Overrides(), strict=False)
    assert not isinstance(caught.value, RequestSkeletonError)
    assert any("New" in line for line in caught.value.details)
