"""Transform jobs by boto3, each answer held to botocore's model."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.clients.conftest import User
from tests.kit.answer_shapes import client_of

ROLE = "arn:aws:iam::123456789012:role/transforms"
GROUP = "/aws/sagemaker/TransformJobs"


def request(name: str, model: str = "doubles", **more: Any) -> dict[str, Any]:
    return {
        "TransformJobName": name,
        "ModelName": model,
        "TransformInput": {
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://records/in/"}},
            "ContentType": "text/csv",
            "SplitType": "Line",
        },
        "TransformOutput": {"S3OutputPath": "s3://records/out", "AssembleWith": "Line"},
        "TransformResources": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        **more,
    }


def refused(call: Callable[..., Any], **parameters: Any) -> tuple[str, str]:
    """Code and message of the error."""
    with pytest.raises(ClientError) as error:
        call(**parameters)
    found = error.value.response["Error"]
    return found["Code"], found["Message"]


@pytest.fixture
def address(serve: Callable[..., Any], image: Callable[[str], str]) -> Iterator[str]:
    """A server with a bucket, records in it, and a model."""
    with serve() as address:
        sagemaker, objects = client_of(address, "sagemaker"), client_of(address, "s3")
        objects.create_bucket(Bucket="records")
        container = {"Image": image("transform"), "Environment": {}}
        sagemaker.create_model(ModelName="doubles", ExecutionRoleArn=ROLE, PrimaryContainer=container)
        objects.put_object(Bucket="records", Key="in/a.csv", Body=b"a\nb\n")
        objects.put_object(Bucket="records", Key="in/deep/b.csv", Body=b"c\n")
        yield address


@pytest.mark.slow(3)
def test_a_job_is_made_of_a_model_and_waited_for(address: str, assert_nothing_left: Callable[[str], None]) -> None:
    sagemaker, objects, logs = (client_of(address, each) for each in ("sagemaker", "s3", "logs"))
    assert logs.describe_log_groups(logGroupNamePrefix=GROUP)["logGroups"] == []
    arn = sagemaker.create_transform_job(**request("boto3-transform"))["TransformJobArn"]
    assert arn == "arn:aws:sagemaker:us-east-1:123456789012:transform-job/boto3-transform"
    sagemaker.get_waiter("transform_job_completed_or_stopped").wait(TransformJobName="boto3-transform")
    job = sagemaker.describe_transform_job(TransformJobName="boto3-transform")
    assert job["TransformJobStatus"] == "Completed", job
    assert job["ModelName"] == "doubles"
    assert job["TransformOutput"] == {"S3OutputPath": "s3://records/out", "AssembleWith": "Line"}
    assert job["CreationTime"] <= job["TransformStartTime"] <= job["TransformEndTime"]
    found = objects.list_objects_v2(Bucket="records", Prefix="out/")["Contents"]
    assert [each["Key"] for each in found] == ["out/a.csv.out", "out/deep/b.csv.out"]
    assert objects.get_object(Bucket="records", Key="out/a.csv.out")["Body"].read() == b"A\nB\n"
    code, message = refused(sagemaker.create_transform_job, **request("boto3-transform"))
    assert (code, arn in message) == ("ResourceInUse", True)

    streams = logs.describe_log_streams(logGroupName=GROUP, logStreamNamePrefix="boto3-transform/")["logStreams"]
    names = [each["logStreamName"] for each in streams]
    assert len(names) == 2
    assert names[1] == f"{names[0]}/data-log"
    events = logs.get_log_events(logGroupName=GROUP, logStreamName=names[1], startFromHead=True)["events"]
    assert events[0]["message"].endswith("MaxConcurrentTransforms=1, MaxPayloadInMB=6, BatchStrategy=MULTI_RECORD")
    output = logs.get_log_events(logGroupName=GROUP, logStreamName=names[0], startFromHead=True)["events"]
    assert [each["message"] for each in output] == ["serving"]
    groups = logs.describe_log_groups(logGroupNamePrefix=GROUP)["logGroups"]
    assert [each["logGroupName"] for each in groups] == [GROUP]
    assert_nothing_left("boto3-transform")


@pytest.mark.slow(3)
def test_a_stopped_job_is_listed_with_the_others(address: str, assert_nothing_left: Callable[[str], None]) -> None:
    sagemaker, objects = client_of(address, "sagemaker"), client_of(address, "s3")
    waiter = sagemaker.get_waiter("transform_job_completed_or_stopped")
    sagemaker.create_transform_job(**request("boto3-transform-1"))
    waiter.wait(TransformJobName="boto3-transform-1")
    objects.put_object(Bucket="records", Key="in/c.csv", Body=b"mute\n")
    sagemaker.create_transform_job(**request("boto3-transform-2"))
    sagemaker.stop_transform_job(TransformJobName="boto3-transform-2")
    waiter.wait(TransformJobName="boto3-transform-2")
    stopped = sagemaker.describe_transform_job(TransformJobName="boto3-transform-2")
    assert stopped["TransformJobStatus"] == "Stopped"
    code, _ = refused(sagemaker.stop_transform_job, TransformJobName="boto3-transform-2")
    assert code == "ValidationException"

    def listed(**search: Any) -> list[str]:
        return [each["TransformJobName"] for each in sagemaker.list_transform_jobs(**search)["TransformJobSummaries"]]

    assert listed() == ["boto3-transform-2", "boto3-transform-1"]
    assert listed(StatusEquals="Stopped") == ["boto3-transform-2"]
    assert listed(SortBy="Name", SortOrder="Ascending", MaxResults=1) == ["boto3-transform-1"]
    assert sagemaker.list_training_jobs()["TrainingJobSummaries"] == []
    assert_nothing_left("boto3-transform-2")


@pytest.mark.slow(2)
def test_a_file_names_the_model_of_a_client(address: str, user: User, tmp_path: Path) -> None:
    assert client_of(address, "sagemaker").describe_model(ModelName="doubles")["ModelName"] == "doubles"
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.csv").write_text("a\n")
    asked = {**request("boto3-transform-file"), "TransformOutput": {"S3OutputPath": "./out"}}
    asked["TransformInput"] = {"DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./rows"}}}
    (tmp_path / "transform.json").write_text(json.dumps(asked))
    done = user.run([sys.executable, "-m", "smlocal", "run", "transform.json"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "a.csv.out").read_text() == "A\n"


@pytest.mark.slow(1)
def test_what_the_service_refuses_is_refused(address: str) -> None:
    sagemaker = client_of(address, "sagemaker")
    assert refused(sagemaker.create_transform_job, **request("boto3-transform-3", model="absent")) == (
        "ValidationException",
        'Could not find model "arn:aws:sagemaker:us-east-1:000000000000:model/absent".',
    )
    code, message = refused(sagemaker.create_transform_job, **request("boto3-transform-3", MaxPayloadInMB=500))
    assert (code, "MaxPayloadInMB is at most 100" in message) == ("ValidationException", True)
    source = {"DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://records/none/"}}}
    asked = {**request("boto3-transform-3"), "TransformInput": source}
    code, message = refused(sagemaker.create_transform_job, **asked)
    assert code == "ValidationException"
    assert message.startswith('No S3 objects found under S3 URL "s3://records/none/" given in input data source.')
    place = {"S3Uri": "s3://records/in/", "S3DataType": "S3Prefix", "CompressionType": "None"}
    container = {"Image": "absent", "ModelDataSource": {"S3DataSource": place}}
    sagemaker.create_model(ModelName="uncompressed", ExecutionRoleArn=ROLE, PrimaryContainer=container)
    assert refused(sagemaker.create_transform_job, **request("boto3-transform-3", model="uncompressed")) == (
        "ValidationException",
        (
            "SageMaker Batch currently doesn't support Model entity with container definitions which use "
            "ModelDataSource attribute"
        ),
    )
    for call in (sagemaker.describe_transform_job, sagemaker.stop_transform_job):
        assert refused(call, TransformJobName="absent") == (
            "ValidationException",
            "Could not find requested job with name: absent",
        )
