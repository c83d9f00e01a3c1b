"""`Local.Faults` of this platform, on a real engine."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.ai_platform.scripts import COUNTED, SLEEPS, UNTIL_GO

Clean = Callable[[str], None]


def test_no_machines(replicas: Any, assert_nothing_left: Clean) -> None:
    replicas.begin_job(replicas.training_job("aip_stock", SLEEPS, Faults=[{"Kind": "StockOut", "Times": 4}]))
    answer = replicas.finished("aip_stock")
    message = (
        "Resources are insufficient in region: us-central1. Try a different region. If you use K80, consider using P100"
        " or V100 instead."
    )
    assert (answer["state"], answer["errorMessage"]) == ("FAILED", message)
    assert [each["Decision"] for each in replicas.entries("aip_stock") if each["Happened"] == "stock-out"] == [
        *["retry-job"] * 3,
        "fail",
    ]
    assert replicas.log("aip_stock", "master-0") == ""
    assert_nothing_left("aip_stock")


@pytest.mark.slow(1)
def test_an_internal_error_before_an_attempt_and_a_machine_that_is_maintained(
    replicas: Any, assert_nothing_left: Clean
) -> None:
    worker = f"{COUNTED} [ $n = 1 ] || touch /gcs/b/go; trap 'exit 7' TERM; while :; do sleep 0.05; done"
    file = replicas.custom_job(
        "aip-faults",
        (1, UNTIL_GO),
        (1, worker),
        Faults=[
            {"Kind": "InternalError", "When": "Before", "Times": 2},
            {"Kind": "Maintenance", "Replica": "workerpool1-0", "AfterSeconds": 1},
        ],
        StopGraceSeconds=5,
    )
    replicas.begin_job(file)
    assert replicas.finished("aip-faults")["state"] == "JOB_STATE_SUCCEEDED"
    told = [(each["Attempt"], each["Happened"], each["Decision"]) for each in replicas.entries("aip-faults")]
    assert [each for each in told if each[2] != "nothing"] == [
        (1, "internal-error", "retry-job"),
        (2, "internal-error", "retry-job"),
        (3, "maintenance", "move-replica"),
        (3, "exited", "move-replica"),
        (3, "exited", "succeed"),
    ]
    lines = ["start 1", "smlocal: attempt 3 of the job, on another machine", "start 2"]
    assert replicas.log("aip-faults", "workerpool1-0").splitlines() == lines
    assert_nothing_left("aip-faults")


@pytest.mark.slow(1)
def test_three_internal_errors(replicas: Any, assert_nothing_left: Clean) -> None:
    fault = {"Kind": "InternalError", "AfterSeconds": 0, "Times": 3}
    replicas.begin_job(replicas.custom_job("aip-internal", (1, SLEEPS), Faults=[fault]))
    answer = replicas.finished("aip-internal")
    message = "Internal error occurred for the current attempt"
    assert (answer["state"], answer["error"]) == ("JOB_STATE_FAILED", {"code": 13, "message": message})
    assert [each["Decision"] for each in replicas.entries("aip-internal") if each["Happened"] == "internal-error"] == [
        "retry-job",
        "retry-job",
        "fail",
    ]
    assert_nothing_left("aip-internal")
