"""All calls that one `Estimator(…).fit()` of SDK v2 makes, answered by `smlocal serve` and by moto's server.

They were recorded from sagemaker 2.257.7 with `logs="All"` and a job that is over before the SDK asks for it first.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from botocore.exceptions import ClientError
from endpoint_server import Server, moto_server, request, smlocal_server
from measure import alternate
from results import Figure, Size, comparison, main
from workplace import SH, Workplace, image, workplace

BOUND = 1.0
_GROUP = "/aws/sagemaker/TrainingJobs"
_BUCKET = "sagemaker-us-east-1-000000000000"
_SERVICES = ("sts", "s3", "sagemaker", "logs")


class Replay:
    """One server, and what its calls took."""

    def __init__(self, server: Server, job_ends: Callable[["Replay", str], None]) -> None:
        self.clients: dict[str, Any] = {service: server.client(service) for service in _SERVICES}
        self._job_ends = job_ends
        self._seconds = 0.0

    def fit(self, name: str, tag: str) -> float:
        """The seconds of all calls. Calls made while the SDK sleeps are not among them."""
        self._seconds = 0.0
        self._call("sts", "get_caller_identity")
        self._call("s3", "list_buckets")
        self._call("sts", "get_caller_identity")
        with suppress(ClientError):  # 404: the first job of an account
            self._call("s3", "head_bucket", Bucket=_BUCKET)
        self._call("s3", "create_bucket", Bucket=_BUCKET)
        debugger = {"S3OutputPath": f"s3://{_BUCKET}/", "CollectionConfigurations": []}
        profiler = {"S3OutputPath": f"s3://{_BUCKET}/", "DisableProfiler": False}
        job = request(
            name, tag, DebugHookConfig=debugger, ProfilerConfig=profiler, Environment={"SCRIPT": "echo hello"}
        )
        self._call("sagemaker", "create_training_job", **job)
        self._job_ends(self, name)
        self._call("sagemaker", "describe_training_job", TrainingJobName=name)
        found = self._call(
            "logs",
            "describe_log_streams",
            logGroupName=_GROUP,
            logStreamNamePrefix=f"{name}/",
            orderBy="LogStreamName",
            limit=1,
        )
        stream = {"logGroupName": _GROUP, "logStreamName": found["logStreams"][0]["logStreamName"]}
        page = self._call("logs", "get_log_events", **stream, startTime=0, startFromHead=True)
        assert [event["message"] for event in page["events"]] == ["hello"]
        token = page["nextForwardToken"]
        self._call("logs", "get_log_events", **stream, startTime=0, startFromHead=True, nextToken=token)
        self._call("sts", "get_caller_identity")
        self._forget_bucket()
        return self._seconds

    def _forget_bucket(self) -> None:
        """The next `fit` finds none, as the first of an account does. What the job has left in it goes first."""
        s3 = self.clients["s3"]
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=_BUCKET):
            for each in page.get("Contents", ()):
                s3.delete_object(Bucket=_BUCKET, Key=each["Key"])
        s3.delete_bucket(Bucket=_BUCKET)

    def _call(self, service: str, operation: str, **parameters: Any) -> Any:
        call = getattr(self.clients[service], operation)
        began = time.perf_counter()
        try:
            return call(**parameters)
        finally:
            self._seconds += time.perf_counter() - began


def measure(size: Size) -> list[Figure]:
    tag = image(SH)
    with workplace() as place, smlocal_server(place.environment) as server, moto_server(place.environment) as moto:
        ours, theirs = Replay(server, _wait), Replay(moto, _write_log)
        one, other = alternate(
            lambda: _median_fit(ours, place, tag),
            lambda: _median_fit(theirs, place, tag),
            rounds=size.rounds,
            name="fit",
        )
    return [comparison("all calls of one `fit()` of SDK v2 ÷ answered by moto's server", one, other, BOUND)]


def _median_fit(replay: Replay, place: Workplace, tag: str) -> float:
    return sorted(replay.fit(place.new_name(), tag) for _ in range(5))[2]


def _wait(replay: Replay, name: str) -> None:
    replay.clients["sagemaker"].get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=name)


def _write_log(replay: Replay, name: str) -> None:
    """moto runs nothing."""
    logs = replay.clients["logs"]
    with suppress(ClientError):  # there is one from the last job
        logs.create_log_group(logGroupName=_GROUP)
    stream = {"logGroupName": _GROUP, "logStreamName": f"{name}/algo-1"}
    logs.create_log_stream(**stream)
    logs.put_log_events(**stream, logEvents=[{"timestamp": int(time.time() * 1000), "message": "hello"}])


if __name__ == "__main__":
    main(measure)
