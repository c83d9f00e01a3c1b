"""Outcomes that `Local.Faults` writes: no instances for a job, and an account whose limit refuses it."""

from collections.abc import Callable
from typing import Any

import pytest

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


SHOWS = "cat /opt/ml/input/config/resourceconfig.json"
PREFERRED: dict[str, Any] = {
    "InstancePreferences": [
        {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 1},
        {"InstanceType": "ml.m5.large", "InstanceCount": 2},
    ]
}


@pytest.mark.slow(1)
def test_the_preference_that_a_fault_leaves(life: Any, assert_nothing_left: Clean) -> None:
    fault = {"Kind": "CapacityError", "Instance": "ml.p5.48xlarge"}
    file = life.job_file("small7-preferred", SHOWS, ResourceConfig=PREFERRED, Local={"Faults": [fault]})
    done = life("run", file)
    assert done.returncode == 0, done.stderr
    for host in ("algo-1", "algo-2"):
        assert '"current_instance_type":"ml.m5.large"' in life.log("small7-preferred", host).replace(": ", ":")
    resources = life.describe("small7-preferred")["ResourceConfig"]
    assert (resources["SelectedInstanceType"], resources["SelectedInstanceCount"]) == ("ml.m5.large", 2)
    assert resources["InstancePreferences"] == PREFERRED["InstancePreferences"]
    assert not resources.keys() & {"InstanceType", "InstanceCount"}
    assert "2 × ml.m5.large" in life("describe", "small7-preferred").stdout
    assert_nothing_left("small7-preferred")


def test_no_preference_is_left(life: Any) -> None:
    file = life.job_file("small7-none-left", "exit 0", ResourceConfig=PREFERRED, Local=CAPACITY)
    assert life("run", file).returncode == 1
    answer = life.describe("small7-none-left")
    assert answer["FailureReason"].startswith("CapacityError: ")
    assert "SelectedInstanceType" not in answer["ResourceConfig"]
    assert "1 × ml.p5.48xlarge or ml.m5.large" in life("describe", "small7-none-left").stdout
