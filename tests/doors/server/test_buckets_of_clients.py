"""A client that has no key names a bucket of S3, which the credentials of the server's owner can read."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from botocore.exceptions import WaiterError
from tests.data.s3.troubled_proxy import TroubledProxy
from tests.kit.s3_servers import S3Servers, environment

from smlocal.endpoint.serving import ClientRights, Options


def end_of_job(endpoint: Any, name: str, image: str, uri: str) -> dict[str, Any]:
    """The end of a job that reads there, as describe shows it."""
    sagemaker = endpoint.client("sagemaker")
    source = {"S3DataType": "S3Prefix", "S3Uri": uri}
    sagemaker.create_training_job(
        TrainingJobName=name,
        AlgorithmSpecification={"TrainingImage": image, "TrainingInputMode": "File"},
        RoleArn="arn:aws:iam::000000000000:role/any",
        InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": source}}],
        OutputDataConfig={"S3OutputPath": "s3://artifacts/out"},
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        StoppingCondition={"MaxRuntimeInSeconds": 600},
        Environment={"SCRIPT": "grep owner /opt/ml/input/data/train/a"},
    )
    with suppress(WaiterError):  # of a job that has failed
        sagemaker.get_waiter("training_job_completed_or_stopped").wait(
            TrainingJobName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 100}
        )
    answer: dict[str, Any] = sagemaker.describe_training_job(TrainingJobName=name)
    return answer


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("allowed", ["none", "another", "this", "all"])
def test_a_bucket_is_read_only_if_the_owner_allows_it(
    make_endpoint: Callable[..., Any],
    s3_servers: S3Servers,
    image: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
    allowed: str,
) -> None:
    server = s3_servers("moto")
    bucket = server.make_bucket()
    server.put(bucket, "train/a", b"of the owner\n")
    buckets = {"none": (), "another": ("another",), "this": (bucket,), "all": None}[allowed]
    with TroubledProxy(server.port) as s3:
        for name, value in environment(s3.url).items():
            monkeypatch.setenv(name, value)
        with make_endpoint(options=Options(rights=ClientRights(allowed_buckets=buckets))) as endpoint:
            answer = end_of_job(endpoint, f"bucket-of-the-owner-{allowed}", image("sh"), f"s3://{bucket}/train/")
    if allowed in {"this", "all"}:
        assert answer["TrainingJobStatus"] == "Completed", answer["FailureReason"]
        assert s3.requests
    else:
        assert answer["TrainingJobStatus"] == "Failed"
        assert f"smlocal serve --allow-bucket {bucket}" in answer["FailureReason"]
        assert s3.requests == [], "its credentials were not used at all"
