"""The words of answers about a warm pool."""

import pytest

from smlocal.sagemaker.contract.requested import last_message, pool_member
from smlocal.terms.statuses import JobStatus, PoolState

STATES = {
    "InUse": PoolState(status="InUse"),
    "Available": PoolState(status="Available"),
    "Reused": PoolState(status="Reused", retained=9, reused_by="b"),
    "Expired": PoolState(status="Terminated", retained=60, expired=True),
    "Ended": PoolState(status="Terminated", retained=20),
}


def test_seconds_are_said_once_they_are_known() -> None:
    assert {name: pool_member(state) for name, state in STATES.items()} == {
        "InUse": {"Status": "InUse"},
        "Available": {"Status": "Available"},
        "Reused": {"Status": "Reused", "ResourceRetainedBillableTimeInSeconds": 9, "ReusedByJob": "b"},
        "Expired": {"Status": "Terminated", "ResourceRetainedBillableTimeInSeconds": 60},
        "Ended": {"Status": "Terminated", "ResourceRetainedBillableTimeInSeconds": 20},
    }


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Available", "Resource retained for reuse"),
        ("Reused", "Resource reused by training job: b"),
        ("Expired", "Resource released due to keep alive period expiry"),
        ("Ended", None),
    ],
)
def test_the_message_of_a_completed_job_and_of_no_other(name: str, message: str | None) -> None:
    assert last_message(JobStatus.COMPLETED, STATES[name]) == message
    assert last_message(JobStatus.FAILED, STATES[name]) is None
