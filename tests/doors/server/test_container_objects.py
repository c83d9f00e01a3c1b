"""Containers that use the S3 of the endpoint themselves: the toolkit that downloads its code, and boto3 in a script."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from smlocal.endpoint.application import Application
from smlocal.endpoint.browsers import Hosts
from smlocal.endpoint.endpoint_key import key_of_home

SCRIPT = """
import os, urllib.error, urllib.request
import boto3

open("/opt/ml/model/weights", "w").write("1")
print("channel", open("/opt/ml/input/data/train/a").read().strip())
s3 = boto3.client("s3")
print("boto3", s3.get_object(Bucket="data", Key="train/a")["Body"].read().decode().strip())
s3.upload_file("/opt/ml/input/data/train/a", "data", "from/container")
try:
    urllib.request.urlopen(os.environ["AWS_ENDPOINT_URL_S3"] + "/data/train/a", timeout=200)
except urllib.error.HTTPError as error:
    print("unsigned", error.code)
sagemaker = boto3.client("sagemaker", endpoint_url=os.environ["AWS_ENDPOINT_URL_S3"], region_name="us-east-1")
try:
    sagemaker.list_training_jobs()
except Exception as error:
    print("sagemaker", type(error).__name__)
"""


def archive(**files: str) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"{name}.py")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return made.getvalue()


def request(name: str, image: str, **more: Any) -> dict[str, Any]:
    return {
        "TrainingJobName": name,
        "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
        "RoleArn": "arn:aws:iam::000000000000:role/any",
        "InputDataConfig": [
            {
                "ChannelName": "train",
                "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://data/train/"}},
            }
        ],
        "OutputDataConfig": {"S3OutputPath": "s3://data/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 300},
        **more,
    }


@pytest.mark.slow(2)
@pytest.mark.parametrize("instances", [1, 2])
def test_a_toolkit_downloads_its_code_and_a_script_uses_boto3(
    endpoint: Any, image: Callable[[str], str], instances: int
) -> None:
    s3, sagemaker = endpoint.client("s3"), endpoint.client("sagemaker")
    s3.create_bucket(Bucket="data")
    s3.put_object(Bucket="data", Key="train/a", Body=b"of the bucket\n")
    s3.put_object(Bucket="data", Key="code/sourcedir.tar.gz", Body=archive(train=SCRIPT))
    job = request(
        "toolkit",
        image("toolkit"),
        HyperParameters={
            "sagemaker_program": json.dumps("train.py"),
            "sagemaker_submit_directory": json.dumps("s3://data/code/sourcedir.tar.gz"),
            "sagemaker_container_log_level": "20",
            "sagemaker_region": json.dumps("us-east-1"),
        },
        Environment={"AWS_DEFAULT_REGION": "us-east-1"},  # as SDKs do for functions that run in a container
    )
    job["ResourceConfig"]["InstanceCount"] = instances
    sagemaker.create_training_job(**job)
    sagemaker.get_waiter("training_job_completed_or_stopped").wait(
        TrainingJobName="toolkit", WaiterConfig={"Delay": 1, "MaxAttempts": 100}
    )

    lines = (Path(endpoint.store.directory("toolkit")) / "logs" / "algo-1.log").read_text()
    assert "channel of the bucket" in lines
    assert "boto3 of the bucket" in lines
    assert "unsigned 403" in lines
    assert "sagemaker ClientError" in lines
    assert s3.get_object(Bucket="data", Key="from/container")["Body"].read() == b"of the bucket\n"
    described = sagemaker.describe_training_job(TrainingJobName="toolkit")
    assert described["TrainingJobStatus"] == "Completed", described
    bucket, _, key = described["ModelArtifacts"]["S3ModelArtifacts"].removeprefix("s3://").partition("/")
    assert s3.head_object(Bucket=bucket, Key=key)["ContentLength"]
    assert key_of_home(endpoint.store.home, "container-key.json").secret_key not in json.dumps(described, default=str)


def unused(_: Any) -> Any:
    raise AssertionError("it is open already")


@pytest.mark.slow(1)
def test_the_port_is_only_open_for_jobs_that_need_it_and_comes_back(
    make_endpoint: Callable[..., Any], smlocal_home: Path
) -> None:
    port = smlocal_home / "container-port.json"
    with make_endpoint() as endpoint:
        endpoint.client("s3").create_bucket(Bucket="data")
        endpoint.client("s3").put_object(Bucket="data", Key="train/a", Body=b"1")
        sagemaker = endpoint.client("sagemaker")
        sagemaker.create_training_job(**request("plain", "no-such-image"))
        assert not port.exists()
        sagemaker.create_training_job(
            **request("told-of-a-bucket", "no-such-image", HyperParameters={"to": "s3://data/x"})
        )
        first = json.loads(port.read_text())
        assert endpoint.serving.container_port.url(unused) is not None
    with make_endpoint() as endpoint:
        serving = endpoint.serving
        serving.container_port.reopen(lambda key: Application(serving, hosts=Hosts(), signatures=key, only_s3=True))
        assert json.loads(port.read_text()) == first
        url = urlsplit(endpoint.serving.container_port.url(unused))
        assert (url.hostname, url.port) == (first["Address"], first["Port"])
