from typing import Any

import pytest

from smlocal.service.submit_checks import cost_of, duration

ONE = {"InstanceType": "ml.m5.large", "InstanceCount": 2}


@pytest.mark.parametrize(
    ("resources", "seconds", "sentence"),
    [
        (ONE, 86400, "2 × ml.m5.large for at most 24 h: 48 instance-hours"),
        (ONE, 1800, "2 × ml.m5.large for at most 30 min: 1 instance-hour"),
        (ONE, 90, "2 × ml.m5.large for at most 90 s: 0.05 instance-hours"),
        (
            {**ONE, "KeepAlivePeriodInSeconds": 1800},
            1800,
            "2 × ml.m5.large for at most 30 min and 30 min as a warm pool: 2 instance-hours",
        ),
        (
            {
                "InstanceGroups": [
                    {"InstanceGroupName": "a", **ONE},
                    {"InstanceType": "ml.p3.2xlarge", "InstanceCount": 1},
                ]
            },
            3600,
            "2 × ml.m5.large and 1 × ml.p3.2xlarge for at most 1 h: 3 instance-hours",
        ),
        (
            {"InstancePreferences": [ONE, {"InstanceType": "ml.c5.large", "InstanceCount": 4}]},
            3600,
            "4 × ml.m5.large or ml.c5.large for at most 1 h: 4 instance-hours",
        ),
    ],
)
def test_the_most_that_a_job_may_take(resources: dict[str, Any], seconds: int, sentence: str) -> None:
    cost = cost_of({"ResourceConfig": resources, "StoppingCondition": {"MaxRuntimeInSeconds": seconds}})
    assert cost is not None
    assert cost.sentence == sentence
    assert cost.stated


def test_a_job_without_a_limit_has_the_services() -> None:
    cost = cost_of({"ResourceConfig": ONE, "EnableManagedSpotTraining": True})
    assert cost is not None
    assert (cost.seconds, cost.stated, cost.spot) == (86400, False, True)


def test_a_job_without_instances_has_no_figure() -> None:
    assert cost_of({}) is None


def test_durations() -> None:
    assert [duration(each) for each in (0, 119, 120, 3601, 5400)] == ["0 s", "119 s", "2 min", "3601 s", "1 h 30 min"]
