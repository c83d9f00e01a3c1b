"""boto3: as a program of a user's, and every operation on a server, each answer held to botocore's model."""

import io
import json
import tarfile
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, WaiterError
from tests.clients.conftest import User, last_json
from tests.kit import until
from tests.kit.answer_shapes import client_of

ROLE = "arn:aws:iam::123456789012:role/training"


def request(name: str, image: str, script: str = "true", **more: Any) -> dict[str, Any]:
    return {
        "TrainingJobName": name,
        "RoleArn": ROLE,
        "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
        "Environment": {"SCRIPT": script},
        "OutputDataConfig": {"S3OutputPath": "s3://artifacts/models"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 1800},
        **more,
    }


def refused(call: Callable[..., Any], **parameters: Any) -> tuple[str, str]:
    """Code and message of the error."""
    with pytest.raises(ClientError) as error:
        call(**parameters)
    assert error.value.response["ResponseMetadata"]["RequestId"]
    found = error.value.response["Error"]
    return found["Code"], found["Message"]


def test_a_program_without_an_aws_account_runs_a_job_and_waits_no_longer_than_the_job(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute(None, "boto3_job.py", image("sh"), "boto3-program")
    found = last_json(done.stdout)

    assert found == {
        "status": "Completed",
        "questions_of_the_waiter": 1,  # a second one would come after 120 seconds
        "request_id": 36,
        "log": ["loss=0.5"],
        "metric": 0.5,
        "statistics": [0.5],
        "tags": [{"Key": "team", "Value": "a"}],
        "identity": "000000000000",
        "left": [],
    }
    assert_nothing_left("boto3-program")


def test_every_operation_on_jobs_that_wait_run_stop_and_end(
    serve: Callable[..., Any],
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    sh = image("sh")
    with serve("--max-instances", "1") as address:
        sagemaker, logs = client_of(address, "sagemaker"), client_of(address, "logs")

        def messages() -> list[str]:
            streams = {"logGroupName": "/aws/sagemaker/TrainingJobs", "logStreamNamePrefix": "boto3-operations-"}
            return [event["message"] for event in logs.filter_log_events(**streams)["events"]]

        running = "boto3-operations-0"
        arn = sagemaker.create_training_job(
            **request(
                running,
                sh,
                "trap 'exit 0' TERM; echo begun; sleep 1000 & wait",
                Tags=[{"Key": "kind", "Value": "long"}],
            )
        )["TrainingJobArn"]
        waiting = [f"boto3-operations-{number}" for number in range(1, 25)]
        for name in waiting:
            sagemaker.create_training_job(**request(name, sh))

        pages = sagemaker.get_paginator("list_training_jobs").paginate(
            SortBy="CreationTime", SortOrder="Ascending", PaginationConfig={"PageSize": 7}
        )
        found = [[each["TrainingJobName"] for each in page["TrainingJobSummaries"]] for page in pages]
        assert [len(page) for page in found] == [7, 7, 7, 4]
        assert [name for page in found for name in page] == [running, *waiting]
        assert len(sagemaker.list_training_jobs()["TrainingJobSummaries"]) == 10
        assert sagemaker.describe_training_job(TrainingJobName=waiting[0])["SecondaryStatus"] == "Pending"

        # The name is the key: a repeated request has not made a second job.
        code, message = refused(sagemaker.create_training_job, **request(running, sh))
        assert (code, running in message) == ("ResourceInUse", True)

        sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "team", "Value": "b"}])
        sagemaker.delete_tags(ResourceArn=arn, TagKeys=["kind"])
        assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "team", "Value": "b"}]
        by_tag = sagemaker.get_paginator("search").paginate(
            Resource="TrainingJob", SearchExpression={"Filters": [{"Name": "Tags.team", "Value": "b"}]}
        )
        assert [each["TrainingJob"]["TrainingJobName"] for page in by_tag for each in page["Results"]] == [running]
        updated = sagemaker.update_training_job(TrainingJobName=running, RemoteDebugConfig={"EnableRemoteDebug": True})
        assert updated["TrainingJobArn"] == arn
        code, message = refused(
            sagemaker.update_training_job,
            TrainingJobName=running,
            ResourceConfig={"KeepAlivePeriodInSeconds": 60},
        )
        assert (code, "InProgress" in message) == ("ValidationException", True)

        code, message = refused(sagemaker.delete_training_job, TrainingJobName=running)
        assert code == "ValidationException"
        assert "InProgress" in message

        until(lambda: messages() == ["begun"])
        for name in (*waiting, running):
            sagemaker.stop_training_job(TrainingJobName=name)
        sagemaker.get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=running)
        stopped = sagemaker.list_training_jobs(StatusEquals="Stopped", MaxResults=100)["TrainingJobSummaries"]
        assert {each["TrainingJobName"] for each in stopped} == {running, *waiting}
        assert refused(sagemaker.stop_training_job, TrainingJobName=running) == (
            "ValidationException",
            "The request was rejected because the training job is in status Stopped.",
        )

        assert messages() == ["begun"]
        for name in waiting:
            sagemaker.delete_training_job(TrainingJobName=name)
        assert [each["TrainingJobName"] for each in sagemaker.list_training_jobs()["TrainingJobSummaries"]] == [running]
    assert_nothing_left(running)


@pytest.mark.slow(2)
def test_a_warm_pool_is_listed_extended_reused_and_ended(
    serve: Callable[..., Any], image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    resources = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10}
    with serve() as address:
        sagemaker = client_of(address, "sagemaker")

        def run(name: str, script: str, **more: Any) -> dict[str, Any]:
            sagemaker.create_training_job(**request(name, image("sh"), script, ResourceConfig={**resources, **more}))
            sagemaker.get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=name)
            described: dict[str, Any] = sagemaker.describe_training_job(TrainingJobName=name)
            return described

        def listed(status: str) -> list[str]:
            found = sagemaker.list_training_jobs(WarmPoolStatusEquals=status)["TrainingJobSummaries"]
            assert {each["WarmPoolStatus"]["Status"] for each in found} <= {status}
            return [each["TrainingJobName"] for each in found]

        def update(name: str, seconds: int) -> dict[str, Any]:
            return {"TrainingJobName": name, "ResourceConfig": {"KeepAlivePeriodInSeconds": seconds}}

        cache = "/opt/ml/sagemaker/warmpoolcache"
        run("warm-boto3-without", "true")
        run("warm-boto3-1", f"echo cached >{cache}/file", KeepAlivePeriodInSeconds=600)
        assert (listed("Available"), listed("Reused"), listed("InUse")) == (["warm-boto3-1"], [], [])
        sagemaker.update_training_job(**update("warm-boto3-1", 1200))
        described = sagemaker.describe_training_job(TrainingJobName="warm-boto3-1")
        assert described["ResourceConfig"]["KeepAlivePeriodInSeconds"] == 1200

        second = run("warm-boto3-2", f"grep cached {cache}/file", KeepAlivePeriodInSeconds=600)
        assert (second["TrainingJobStatus"], second["WarmPoolStatus"]) == ("Completed", {"Status": "Available"})
        assert (listed("Available"), listed("Reused")) == (["warm-boto3-2"], ["warm-boto3-1"])
        reused = sagemaker.describe_training_job(TrainingJobName="warm-boto3-1")["WarmPoolStatus"]
        assert reused["ReusedByJob"] == "warm-boto3-2"

        sagemaker.update_training_job(**update("warm-boto3-2", 0))
        assert (listed("Available"), listed("Terminated")) == ([], ["warm-boto3-2"])
        for name in ("warm-boto3-1", "warm-boto3-2", "warm-boto3-without"):
            assert refused(sagemaker.update_training_job, **update(name, 60)) == (
                "ValidationException",
                "The request was rejected because the training job is in status Completed.",
            )
        everything = {
            each["TrainingJobName"]: each.get("WarmPoolStatus", {}).get("Status")
            for each in sagemaker.list_training_jobs()["TrainingJobSummaries"]
        }
        assert everything == {
            "warm-boto3-without": None,
            "warm-boto3-1": "Reused",
            "warm-boto3-2": "Terminated",
        }
    assert_nothing_left("warm-boto3-2")


@pytest.mark.slow(2)
def test_waiters_fail_as_the_models_of_botocore_say_and_end_with_the_job(
    serve: Callable[..., Any], image: Callable[[str], str]
) -> None:
    with serve() as address:
        sagemaker = client_of(address, "sagemaker")
        waiter = sagemaker.get_waiter("training_job_completed_or_stopped")
        sagemaker.create_training_job(**request("boto3-no-op", image("sh")))
        asked: list[object] = []
        sagemaker.meta.events.register(
            "before-call.sagemaker.DescribeTrainingJob", lambda params, **_: asked.append(params["body"])
        )
        waiter.wait(TrainingJobName="boto3-no-op")
        assert len(asked) == 1  # a second question would come after 120 seconds
        job = sagemaker.describe_training_job(TrainingJobName="boto3-no-op")
        assert job["TrainingJobStatus"] == "Completed"

        sagemaker.create_training_job(
            **request("boto3-fails", image("sh"), "printf nodata > /opt/ml/output/failure; exit 3")
        )
        with pytest.raises(WaiterError, match="terminal failure state"):
            waiter.wait(TrainingJobName="boto3-fails")
        job = sagemaker.describe_training_job(TrainingJobName="boto3-fails")
        assert (job["TrainingJobStatus"], job["FailureReason"]) == ("Failed", "AlgorithmError: nodata, exit code: 3")
        with pytest.raises(WaiterError, match="ValidationException"):
            waiter.wait(TrainingJobName="boto3-none")


@pytest.mark.slow(1)
def test_errors_have_the_codes_and_the_texts_of_the_service(
    serve: Callable[..., Any], image: Callable[[str], str], user: User
) -> None:
    with serve("--max-instances", "1", "--refuse") as address:
        # The client would find some of it itself.
        sagemaker = client_of(address, "sagemaker", parameter_validation=False)
        unknown = ("ValidationException", "Requested resource not found.")
        assert refused(sagemaker.describe_training_job, TrainingJobName="boto3-none") == unknown
        assert refused(sagemaker.stop_training_job, TrainingJobName="boto3-none") == unknown
        assert refused(sagemaker.delete_training_job, TrainingJobName="boto3-none") == unknown
        code, message = refused(sagemaker.create_training_job, **request("boto3_wrong", image("sh")))
        assert code == "ValidationException"
        assert message == (
            "1 validation error detected: Value 'boto3_wrong' at 'trainingJobName' failed to satisfy constraint: "
            "Member must satisfy regular expression pattern: [a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}"
        )
        two = {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 10}
        code, message = refused(sagemaker.create_training_job, **request("boto3-two", image("sh"), ResourceConfig=two))
        assert (code, "is 1 Instances" in message) == ("ResourceLimitExceeded", True)
        code, message = refused(sagemaker.list_training_jobs, MaxResults=0)
        assert (code, "maxResults" in message) == ("ValidationException", True)
        code, message = refused(sagemaker.list_notebook_instances)
        assert code == "UnknownOperationException"
        assert "ListNotebookInstances" in message
        code, _ = refused(client_of(address, "dynamodb").list_tables)
        assert code == "UnknownOperationException"
        assert sagemaker.list_training_jobs()["TrainingJobSummaries"] == []
    assert not (user.home / "jobs").is_dir() or not list((user.home / "jobs").iterdir())


@pytest.mark.slow(1)
def test_code_that_cannot_be_unpacked_safely_is_refused_and_leaves_nothing(
    serve: Callable[..., Any], image: Callable[[str], str], user: User
) -> None:
    outside = io.BytesIO()
    with tarfile.open(fileobj=outside, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../../train.py"))
    with serve() as address:
        s3, sagemaker = client_of(address, "s3"), client_of(address, "sagemaker")
        s3.create_bucket(Bucket="code")
        for content in (outside.getvalue(), b"no archive"):
            s3.put_object(Bucket="code", Key="sourcedir.tar.gz", Body=content, ServerSideEncryption="aws:kms")
            parameters = {"sagemaker_submit_directory": '"s3://code/sourcedir.tar.gz"'}
            code, message = refused(
                sagemaker.create_training_job, **request("boto3-code", image("sh"), HyperParameters=parameters)
            )
            assert code == "ValidationException"
            assert message.startswith("The code in sagemaker_submit_directory cannot be unpacked: ")
        assert s3.head_object(Bucket="code", Key="sourcedir.tar.gz")["ServerSideEncryption"] == "aws:kms"
        assert sagemaker.list_training_jobs()["TrainingJobSummaries"] == []
    assert not list((user.home / "code").iterdir())
    assert not list(user.home.rglob("train.py"))


@pytest.mark.slow(1)
def test_outcomes_by_script(serve: Callable[..., Any], assert_nothing_left: Callable[[str], None]) -> None:
    with serve() as address:
        sagemaker = client_of(address, "sagemaker")

        def add_fault(params: dict[str, Any], **_: Any) -> None:
            body = json.loads(params["body"])
            body["Local"] = {"Faults": [{"Kind": body["Environment"]["SCRIPT"]}]}
            params["body"] = json.dumps(body).encode()

        sagemaker.meta.events.register("before-call.sagemaker.CreateTrainingJob", add_fault)
        limited = request("boto3-limited", "absent:1", "ResourceLimitExceeded")
        code, message = refused(sagemaker.create_training_job, **limited)
        assert code == "ResourceLimitExceeded"
        assert message.startswith("The account-level service limit 'ml.m5.large for training job usage' is 0 Instances")
        sagemaker.create_training_job(**request("boto3-no-capacity", "absent:1", "CapacityError"))
        until(
            lambda: (
                sagemaker.describe_training_job(TrainingJobName="boto3-no-capacity")["TrainingJobStatus"] == "Failed"
            )
        )
        job = sagemaker.describe_training_job(TrainingJobName="boto3-no-capacity")
        assert job["FailureReason"] == (
            "CapacityError: Unable to provision requested ML compute capacity. "
            "Please retry using a different ML instance type."
        )
        assert [each["Status"] for each in job["SecondaryStatusTransitions"]] == ["Pending", "Starting", "Failed"]
    assert_nothing_left("boto3-no-capacity")
