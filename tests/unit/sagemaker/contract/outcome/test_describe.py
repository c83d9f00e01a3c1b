from dataclasses import replace
from typing import Any

import pytest

from smlocal.sagemaker.contract.outcome.describe import JobFacts, TransitionFacts, describe, request_only
from smlocal.terms.statuses import JobPhase, JobStatus

JOB = JobFacts(
    name="Task1-ABC",
    arn="arn:aws:sagemaker:us-east-1:000000000000:training-job/task1-abc",
    status=JobStatus.COMPLETED,
    phase=JobPhase.COMPLETED,
    created=1000.0,
    modified=1600.5,
    started=1001.25,
    ended=1509.999,
    failure_reason=None,
    transitions=[TransitionFacts(status="Completed", started=1509.999, ended=1509.999, message="Training job done")],
    model_uri="s3://bucket/prefix/Task1-ABC/output/model.tar.gz",
)
REQUEST: dict[str, Any] = {"TrainingJobName": "Task1-ABC", "Tags": [{"Key": "a", "Value": "b"}], "RoleArn": "r"}


@pytest.mark.parametrize(
    ("started", "ended", "seconds"),
    [
        (1001.25, 1509.999, 508),
        # Seen: describe-2022-02-18-completed (18:51:41.811 to 19:02:53.172 is 671.361 s, answered as 672) and
        # describe-2021-02-25-spot-fsx (22:00:55.276 to 08:18:01.414).
        (67_901.811, 68_573.172, 672),
        (79_255.276, 116_281.414, 37_026),
        (1001.999, 1002.0, 1),
        (1001.0, 1001.999, 1),
        (1001.999, 1003.001, 2),
    ],
)
def test_training_time_is_the_whole_second_of_the_end_minus_that_of_the_start(
    started: float, ended: float, seconds: int
) -> None:
    answer = describe(REQUEST, replace(JOB, started=started, ended=ended))
    assert answer["TrainingTimeInSeconds"] == seconds
    assert answer["BillableTimeInSeconds"] == seconds


def test_an_interruption_is_not_billed() -> None:
    spans = [
        ("Starting", 1000.0, 1001.25),
        ("Downloading", 1001.25, 1002.0),
        ("Training", 1002.0, 1100.0),
        ("Interrupted", 1100.0, 1200.0),
        ("Starting", 1200.0, 1400.0),
        ("Downloading", 1400.0, 1401.0),
        ("Training", 1401.0, 1509.0),
        ("Uploading", 1509.0, 1509.999),
    ]
    transitions = [TransitionFacts(status=status, started=start, ended=end, message="") for status, start, end in spans]
    answer = describe(REQUEST, replace(JOB, transitions=[*transitions, *JOB.transitions]))
    assert answer["TrainingTimeInSeconds"] == 508
    assert answer["BillableTimeInSeconds"] == 208


def test_training_time_is_at_least_one_second() -> None:
    assert describe(REQUEST, replace(JOB, ended=1001.3))["TrainingTimeInSeconds"] == 1


def test_a_job_that_never_had_its_instances_has_no_times() -> None:
    answer = describe(REQUEST, replace(JOB, started=None, ended=None))
    times = {"TrainingStartTime", "TrainingEndTime", "TrainingTimeInSeconds", "BillableTimeInSeconds"}
    assert not times & answer.keys()


def test_a_running_job_has_a_start_and_no_end() -> None:
    answer = describe(REQUEST, replace(JOB, ended=None))
    assert answer["TrainingStartTime"] == 1001.25
    assert "TrainingEndTime" not in answer


def test_the_default_runtime_is_shown() -> None:
    assert describe(REQUEST, JOB)["StoppingCondition"] == {"MaxRuntimeInSeconds": 86400}
    asked = {**REQUEST, "StoppingCondition": {"MaxRuntimeInSeconds": 7}}
    assert describe(asked, JOB)["StoppingCondition"] == {"MaxRuntimeInSeconds": 7}


def test_what_the_answer_has_no_place_for_is_kept_apart() -> None:
    assert "Tags" not in describe(REQUEST, JOB)
    assert request_only(REQUEST) == {"Tags": [{"Key": "a", "Value": "b"}]}


def test_the_reason_stands_beside_the_status() -> None:
    failed = replace(JOB, status=JobStatus.FAILED, failure_reason="AlgorithmError: , exit code: 1")
    answer = describe(REQUEST, failed)
    assert list(answer)[3:6] == ["TrainingJobStatus", "SecondaryStatus", "FailureReason"]
