import os
from pathlib import Path
from typing import Any

import pytest

ARN = "arn:aws:sagemaker:eu-west-1:123456789012:training-job/held-tree"


@pytest.fixture
def answer() -> dict[str, Any]:
    """An answer of DescribeTrainingJob, as the AWS CLI saves it."""
    return {
        "TrainingJobName": "held-tree",
        "TrainingJobArn": ARN,
        "ModelArtifacts": {"S3ModelArtifacts": "s3://bucket/out/held-tree/output/model.tar.gz"},
        "TrainingJobStatus": "Failed",
        "SecondaryStatus": "Failed",
        "FailureReason": "AlgorithmError: exit 1",
        "HyperParameters": {"epochs": "3", "note": ""},
        "AlgorithmSpecification": {
            "TrainingImage": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/held:1",
            "TrainingInputMode": "File",
            "MetricDefinitions": [],
            "EnableSageMakerMetricsTimeSeries": False,
        },
        "RoleArn": "arn:aws:iam::123456789012:role/Trainer",
        "InputDataConfig": [
            {
                "ChannelName": "train",
                "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/data"}},
                "CompressionType": "None",
                "RecordWrapperType": "None",
            }
        ],
        "OutputDataConfig": {"KmsKeyId": "", "S3OutputPath": "s3://bucket/out", "CompressionType": "GZIP"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 30},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
        "CreationTime": "2026-11-20T10:00:00.000000+00:00",
        "SecondaryStatusTransitions": [],
        "EnableNetworkIsolation": False,
        "ProfilingStatus": "Disabled",
        "ResponseMetadata": {"HTTPStatusCode": 200},
    }


@pytest.fixture
def aws_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Somebody with keys and a region, and no files of AWS. Nothing is tried twice."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    return monkeypatch
