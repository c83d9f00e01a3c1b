"""Queues of AWS Batch for training jobs, by boto3 and by both SDKs."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.clients.conftest import User, last_json
from tests.clients.test_boto3 import refused, request
from tests.kit import until
from tests.kit.answer_shapes import client_of

DONE = "Received status from SageMaker: Training job completed"
ENDLESS = "trap 'exit 0' TERM; sleep 1000 & wait"


@pytest.mark.slow(20)
@pytest.mark.long
@pytest.mark.parametrize("sdk", ["sdk-2", "sdk-3"])
def test_a_queue_of_the_sdk_runs_unmodified(
    sdk: str, user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    name = f"{sdk}-queue"
    found = last_json(user.execute(sdk, "sdk_queue.py", sdk, image("sh"), name).stdout)
    assert found == {
        "result": ["SUCCEEDED", DONE, 1, {"team": "a"}],
        "terminated": ["FAILED", "no longer wanted", True],
        "found": [f"{name}-2", f"{name}-1"],
        "succeeded": [f"{name}-1"],
        "by_name": True,
        "attached": True,
    }
    for job in (user.home / "jobs").iterdir():
        assert_nothing_left(job.name)


QUEUE = "arn:aws:batch:us-east-1:000000000000:job-queue/q"
ASKED = {"jobQueue": "q", "serviceJobType": "SAGEMAKER_TRAINING"}


@pytest.mark.slow(5)
def test_jobs_of_a_queue_wait_run_end_and_are_terminated(
    serve: Callable[..., Any], image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    with serve("--max-instances", "1") as address:
        batch, sagemaker = client_of(address, "batch"), client_of(address, "sagemaker")

        def submit(name: str, script: str, **more: Any) -> str:
            payload = json.dumps(request(name, image("sh"), script))
            answer = batch.submit_service_job(jobName=name, serviceRequestPayload=payload, **ASKED, **more)
            assert answer["jobArn"] == f"arn:aws:batch:us-east-1:000000000000:service-job/{answer['jobId']}"
            return str(answer["jobId"])

        def described(job: str, *members: str) -> tuple[Any, ...]:
            answer = batch.describe_service_job(jobId=job)
            return tuple(answer.get(each) for each in members)

        def listed(**asked: Any) -> list[str]:
            return [each["jobName"] for each in batch.list_service_jobs(jobQueue="q", **asked)["jobSummaryList"]]

        since = time.time() * 1000 - 1000
        attempts, timeout = {"attempts": 3}, {"attemptDurationSeconds": 1800}
        runs = submit("runs", ENDLESS, retryStrategy=attempts, shareIdentifier="s", timeoutConfig=timeout)
        until(lambda: described(runs, "status") == ("RUNNING",))
        waits, never = submit("waits", "exit 3"), submit("never", "true")
        assert described(waits, "status", "attempts", "latestAttempt", "startedAt") == ("RUNNABLE", [], None, 0)
        assert listed() == ["runs"]
        assert described(runs, "retryStrategy", "timeoutConfig", "jobQueue") == (attempts, timeout, QUEUE)
        (attempt,) = described(runs, "latestAttempt")
        arn, _, training = attempt["serviceResourceId"]["value"].rpartition("/")
        assert (arn, training[:12]) == ("arn:aws:sagemaker:us-east-1:123456789012:training-job", "AWSBatchruns")
        assert sagemaker.describe_training_job(TrainingJobName=training)["SecondaryStatus"] == "Training"
        payload, created, started = described(runs, "serviceRequestPayload", "createdAt", "startedAt")
        assert json.loads(payload)["TrainingJobName"] == "runs"
        assert since < created
        assert since < started <= time.time() * 1000

        batch.terminate_service_job(jobId=never, reason="not needed")
        assert described(never, "status", "statusReason", "isTerminated") == ("FAILED", "not needed", True)
        sagemaker.stop_training_job(TrainingJobName=training)
        until(lambda: described(waits, "status") == ("FAILED",))
        stopped = "Received status from SageMaker: Training job stopped"
        assert described(runs, "status", "statusReason", "isTerminated") == ("FAILED", stopped, False)
        attempts, reason, ended = described(waits, "attempts", "statusReason", "stoppedAt")
        assert reason.startswith("Received status from SageMaker: AlgorithmError: , exit code: 3")
        assert [(each["statusReason"], each["stoppedAt"]) for each in attempts] == [(reason, ended)]
        batch.terminate_service_job(jobId=waits, reason="too late")
        assert described(waits, "isTerminated", "statusReason") == (False, reason)

        assert listed(filters=[{"name": "JOB_NAME", "values": ["W*"]}]) == ["waits"]
        assert listed(filters=[{"name": "SHARE_IDENTIFIER", "values": ["s"]}], jobStatus="RUNNING") == []
        assert listed(filters=[{"name": "BEFORE_CREATED_AT", "values": [str(created + 1)]}]) == ["runs"]
        page = batch.list_service_jobs(jobQueue=QUEUE, jobStatus="FAILED", maxResults=2)
        rest = listed(jobStatus="FAILED", nextToken=page["nextToken"])
        assert [*(each["jobName"] for each in page["jobSummaryList"]), *rest] == ["never", "waits", "runs"]
    assert_nothing_left(training)


@pytest.mark.slow(5)
def test_a_job_that_fails_is_tried_again(serve: Callable[..., Any], image: Callable[[str], str]) -> None:
    with serve() as address:
        batch, sagemaker = client_of(address, "batch"), client_of(address, "sagemaker")
        conditions = {
            "no": [{"action": "EXIT", "onStatusReason": "Received status from SageMaker: AlgorithmError*"}],
            "yes": [{"action": "EXIT", "onStatusReason": "*InternalServerError*"}],
        }
        jobs = {
            name: batch.submit_service_job(
                jobName=name,
                serviceRequestPayload=json.dumps(request(f"tried_again_{name}", image("sh"), "exit 3")),
                retryStrategy={"attempts": 2, "evaluateOnExit": conditions[name]},
                **ASKED,
            )["jobId"]
            for name in conditions
        }
        until(lambda: all(batch.describe_service_job(jobId=each)["status"] == "FAILED" for each in jobs.values()))
        found = {name: batch.describe_service_job(jobId=each) for name, each in jobs.items()}
        assert {name: len(each["attempts"]) for name, each in found.items()} == {"no": 1, "yes": 2}
        first, second = (each["serviceResourceId"] for each in found["yes"]["attempts"])
        assert first != second
        assert found["yes"]["latestAttempt"] == {"serviceResourceId": second}
        assert second["value"].rpartition("/")[2].startswith("AWSBatchtried-again-yes")
        failed = sagemaker.list_training_jobs(NameContains="AWSBatchtried-again", StatusEquals="Failed")
        assert len(failed["TrainingJobSummaries"]) == 3


def test_what_a_queue_refuses(serve: Callable[..., Any]) -> None:
    with serve() as address:
        batch = client_of(address, "batch")
        # What CreateTrainingJob refuses, the service says of the job.
        given = {"jobName": "n", **ASKED, "serviceRequestPayload": '{"RoleArn": "x"}', "clientToken": "once"}
        wrong = batch.describe_service_job(jobId=batch.submit_service_job(**given)["jobId"])
        assert wrong["status"] == "FAILED"
        assert wrong["statusReason"].startswith("Received status from SageMaker: ValidationException: ")

        code = "ClientException"
        assert refused(batch.describe_service_job, jobId="x") == (code, "There is no service job x.")
        assert refused(batch.terminate_service_job, jobId="x", reason="r") == (code, "There is no service job x.")
        for changes, says in (
            ({}, "submitted with the clientToken once already"),
            ({"serviceRequestPayload": "[]"}, "serviceRequestPayload is not a JSON object."),
            (
                {"serviceRequestPayload": '{"TrainingJobName": "\\ud800"}'},
                "serviceRequestPayload is not a JSON object.",
            ),
            ({"timeoutConfig": {"attemptDurationSeconds": 60}}, "attemptDurationSeconds (60) is below MaxRuntimeIn"),
            ({"serviceJobType": "ECS"}, "Member must satisfy enum value set"),
            ({"jobName": "a b"}, "jobName must have 1 to 128 letters"),
            ({"retryStrategy": {"attempts": 11}}, "retryStrategy.attempts must be between 1 and 10."),
        ):
            found, message = refused(batch.submit_service_job, **{**given, **changes})
            assert (found, says in message) == (code, True), message
        late = {"name": "BEFORE_CREATED_AT", "values": ["9" * 5000]}
        code, message = refused(batch.list_service_jobs, jobQueue="q", filters=[late])
        assert (code, "The filter BEFORE_CREATED_AT" in message) == ("ClientException", True)
        code, message = refused(batch.list_tags_for_resource, resourceArn="arn")
        assert (code, "smlocal does not emulate tags/arn" in message) == ("UnknownOperationException", True)
        code, message = refused(batch.describe_job_queues)
        assert code == "UnknownOperationException"
        assert "smlocal does not emulate DescribeJobQueues. It emulates these of batch: DescribeServiceJob" in message
