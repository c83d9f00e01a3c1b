"""Messages about a job of the service before it is run here, and when they are no longer true."""

from typing import Any

import pytest

from smlocal.service.unavailable_here import lines_about, unavailable_here

CHANNEL = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/data/train"}}
FILES = {"FileSystemDataSource": {"FileSystemId": "fs-01234567", "DirectoryPath": "/x"}}
REQUEST: dict[str, Any] = {
    "HyperParameters": {"sagemaker_submit_directory": '"s3://bucket/code.tar.gz"'},
    "AlgorithmSpecification": {"TrainingImage": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/held:1"},
    "InputDataConfig": [
        {"ChannelName": "train", "DataSource": CHANNEL},
        {"ChannelName": "efs", "DataSource": FILES},
    ],
    "CheckpointConfig": {"S3Uri": "s3://bucket/checkpoints/held"},
    "ResourceConfig": {"InstanceType": "ml.p3.2xlarge", "InstanceCount": 40},
}
SETTLED: dict[str, Any] = {
    "Code": "./src",
    "Pull": "never",
    "Sources": {"s3://bucket/data": "./rows", "fs-01234567": "./files", "s3://bucket/checkpoints": "./kept"},
    "AllowCpu": True,
    "MaxHosts": 40,
}


def options(local: dict[str, Any], request: dict[str, Any] = REQUEST) -> list[str]:
    return [each.option for each in unavailable_here(request, local)]


def test_each_has_the_option_that_helps_and_words_that_can_be_run() -> None:
    assert options({}) == [
        "--code DIR",
        "--image NAME --pull never",
        "--source s3://bucket/data/train=DIR",
        "--source fs-01234567=DIR",
        "--source s3://bucket/checkpoints/held=DIR",
        "--allow-cpu",
        "--set Local.MaxHosts=40",
    ]
    words = [" ".join(each.words) for each in unavailable_here(REQUEST, {})]
    assert words[:3] == ["--code ./code", "--image held:1 --pull never", "--source s3://bucket/data/train=./data/train"]


@pytest.mark.parametrize(
    ("setting", "gone"),
    [
        ({"Code": "./src"}, "--code DIR"),
        ({"Credentials": "inherit"}, "--code DIR"),
        ({"Pull": "never"}, "--image NAME --pull never"),
        ({"Sources": {"s3://bucket/data": "./rows"}}, "--source s3://bucket/data/train=DIR"),
        ({"Sources": {"fs-01234567": "./files"}}, "--source fs-01234567=DIR"),
        ({"Sources": {"s3://bucket/checkpoints/": "./kept"}}, "--source s3://bucket/checkpoints/held=DIR"),
        ({"AllowCpu": True}, "--allow-cpu"),
        ({"Gpus": "none"}, "--allow-cpu"),
        ({"MaxHosts": 40}, "--set Local.MaxHosts=40"),
    ],
)
def test_what_is_settled_is_not_said(setting: dict[str, Any], gone: str) -> None:
    assert options(setting) == [each for each in options({}) if each != gone]


def test_nothing_is_said_if_all_is_settled() -> None:
    assert options(SETTLED) == []
    assert options({"Sources": {"s3://bucket/dat": "./rows"}}) == options({})


def test_a_line_is_said_once() -> None:
    groups = [{"InstanceType": "ml.p3.2xlarge", "InstanceCount": 1, "InstanceGroupName": name} for name in "ab"]
    request = {
        "OutputDataConfig": {"KmsKeyId": "key"},
        "ResourceConfig": {"VolumeKmsKeyId": "key", "InstanceGroups": groups},
    }
    found = unavailable_here(request, {})
    assert len(found) == 4
    assert lines_about(found) == [
        "nothing is encrypted here: the KMS key is not used",
        "ml.p3.2xlarge has 1 GPU, which this machine may not have: --allow-cpu",
    ]


def test_a_processing_job_lacks_the_same_at_its_own_places() -> None:
    request = {
        "AppSpecification": {"ImageUri": REQUEST["AlgorithmSpecification"]["TrainingImage"]},
        "ProcessingInputs": [{"InputName": "rows", "S3Input": {"S3Uri": "s3://bucket/rows", "LocalPath": "/rows"}}],
        "ProcessingOutputConfig": {"KmsKeyId": "key", "Outputs": []},
        "ProcessingResources": {"ClusterConfig": {**REQUEST["ResourceConfig"], "VolumeKmsKeyId": "key"}},
        "NetworkConfig": {"VpcConfig": {"Subnets": ["subnet-1"]}},
    }
    assert [".".join(map(str, each.path)) for each in unavailable_here(request, {})] == [
        "AppSpecification.ImageUri",
        "ProcessingInputs.0.S3Input.S3Uri",
        "ProcessingOutputConfig.KmsKeyId",
        "ProcessingResources.ClusterConfig.VolumeKmsKeyId",
        "ProcessingResources.ClusterConfig.InstanceType",
        "ProcessingResources.ClusterConfig",
        "NetworkConfig.VpcConfig",
    ]
    assert options({}, request)[:2] == ["--image NAME --pull never", "--source s3://bucket/rows=DIR"]
