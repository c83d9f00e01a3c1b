"""Logs of real jobs, read by boto3 as the SDKs read them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import until

GROUP = "/aws/sagemaker/TrainingJobs"


@pytest.mark.slow(2)
def test_a_client_reads_a_growing_log_to_its_end_once(
    endpoint: Any, smlocal_run: Callable[..., Any], image: Callable[[str], str], tmp_path: Path
) -> None:
    script = r"printf 'first\n\tindented\n{\n  1\n}\n'; sleep 2; for i in $(seq 50); do echo line $i; done; printf last"
    job = {
        "TrainingJobName": "served-log",
        "AlgorithmSpecification": {
            "TrainingImage": image("sh"),
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["sh", "-c", script],
        },
        "OutputDataConfig": {"S3OutputPath": str(tmp_path / "out")},
        "ResourceConfig": {"InstanceType": "local", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
    }
    file = tmp_path / "job.json"
    file.write_text(json.dumps(job))
    smlocal_run("run", file, "--detach", check=True)
    logs, sagemaker = endpoint.client("logs"), endpoint.client("sagemaker")

    def streams() -> list[str]:
        answer = logs.describe_log_streams(
            logGroupName=GROUP, logStreamNamePrefix="served-log/", orderBy="LogStreamName", limit=1
        )
        assert "nextToken" not in answer
        return [each["logStreamName"] for each in answer["logStreams"]]

    until(lambda: bool(streams()))
    (stream,) = streams()
    found: list[str] = []
    asked: dict[str, Any] = {"logGroupName": GROUP, "logStreamName": stream, "startFromHead": True, "startTime": 0}

    def read() -> int:
        answer = logs.get_log_events(**asked)
        asked["nextToken"] = answer["nextForwardToken"]
        found.extend(event["message"] for event in answer["events"])
        return len(answer["events"])

    ended = False
    while not ended:
        # As SDK v3 does: the log is read once more in the turn that sees the end.
        ended = sagemaker.describe_training_job(TrainingJobName="served-log")["TrainingJobStatus"] != "InProgress"
        while read():
            pass
    expected = ["first", "#011indented", "{\n  1", "}", *(f"line {number}" for number in range(1, 51)), "last"]
    assert found == expected

    pages = logs.get_paginator("filter_log_events").paginate(
        logGroupName=GROUP, logStreamNamePrefix="served-log/", PaginationConfig={"PageSize": 20}
    )
    assert [event["message"] for page in pages for event in page["events"]] == expected
    hits = logs.filter_log_events(logGroupName=GROUP, filterPattern='"line 5"')["events"]
    assert [event["message"] for event in hits] == ["line 5", "line 50"]
