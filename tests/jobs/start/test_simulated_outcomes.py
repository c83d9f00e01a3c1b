"""Outcomes that `Local.Faults` writes: no instances for a job, and an account whose limit refuses it."""

from collections.abc import Callable
from typing import Any

CAPACITY: dict[str, Any] = {"Faults": [{"Kind": "CapacityError"}]}
LIMIT: dict[str, Any] = {"Faults": [{"Kind": "ResourceLimitExceeded"}]}
NO_IMAGE = {"AlgorithmSpecification": {"TrainingImage": "smlocal-absent:1", "TrainingInputMode": "File"}}
RETRIES = {"RetryStrategy": {"MaximumRetryAttempts": 2}}
Clean = Callable[[str], None]


def test_a_job_without_capacity_fails_without_its_image(life: Any, assert_nothing_left: Clean) -> None:
    file = life.job_file("small7-capacity", "exit 0", **NO_IMAGE, **RETRIES, Local=CAPACITY)
    done = life("run", file)
    assert done.returncode == 1, done.stderr
    answer = life.describe("small7-capacity")
    assert answer["FailureReason"].startswith("CapacityError: Unable to provision requested ML compute capacity.")
    assert life.phases("small7-capacity") == ["Starting", "Failed"]
    assert answer["Local"]["Explanation"] == "simulated by Local.Faults"
    assert (answer["Local"]["Attempts"], answer["Local"]["Retries"]) == (1, 0)
    assert not life.model("small7-capacity")
    assert_nothing_left("small7-capacity")


def test_a_limit_refuses_the_job_before_it_exists(life: Any) -> None:
    file = life.job_file("small7-limit", "exit 0", hosts=2, **NO_IMAGE, Local=LIMIT)
    done = life("run", file)
    assert done.returncode == 2
    limit = (
        "The account-level service limit 'ml.m5.large for training job usage' is 0 Instances, with current utilization"
    )
    assert f"{limit} of 0 Instances and a request delta of 2 Instances." in done.stderr
    assert "remove ResourceLimitExceeded there" in done.stderr
    assert life("describe", "small7-limit").returncode == 2
    assert life("validate", file).returncode == 0
