"""Jobs that are cancelled at every moment, and by their limits of time."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.ai_platform.scripts import COUNTED, SLEEPS, UNTIL_GO

Clean = Callable[[str], None]


def cancelled(replicas: Any, job: str, *, message: str = "CANCELED") -> list[Any]:
    """Its entries, once it has been cancelled."""
    answer = replicas.finished(job)
    assert (answer["state"], answer["error"]) == ("JOB_STATE_CANCELLED", {"code": 1, "message": message})
    entries: list[Any] = replicas.entries(job)
    assert [each["Decision"] for each in entries].count("cancel") == 1
    assert replicas.phases(job).count("Stopping") == 1
    return entries


def test_a_deaf_replica_gets_its_grace(replicas: Any, assert_nothing_left: Clean) -> None:
    deaf = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
    for grace in (1, 10, 60):  # on a busy machine the other one may need more to end by itself
        job = f"aip-deaf-{grace}"
        replicas.begin_job(replicas.custom_job(job, (1, UNTIL_GO), (1, deaf), StopGraceSeconds=grace))
        for host in ("workerpool0-0", "workerpool1-0"):
            replicas.until_logged(job, "ready", host)
        replicas.ask_to_stop(job)
        entries = cancelled(replicas, job)
        if replicas.decisions(job, "workerpool0-0") == [("exited", 0, "nothing")]:
            break
    assert replicas.decisions(job, "workerpool0-0") == [("exited", 0, "nothing")]
    assert replicas.decisions(job, "workerpool1-0") == [("exited", 137, "nothing")]
    assert [each["Grace"] for each in entries if "Grace" in each] == [float(grace)]
    assert_nothing_left(job)


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("moment", ["staging", "restart", "retry"])
def test_cancelled_between_containers(replicas: Any, assert_nothing_left: Clean, moment: str) -> None:
    job = f"aip-cancel-{moment}"
    code = 6 if moment == "retry" else 143
    worker = f"{COUNTED} [ $n != 1 ] || exit {code}; {SLEEPS}"
    replicas.begin_recorded(replicas.custom_job(job, (1, SLEEPS), (1, worker)))
    if moment != "staging":
        replicas.until(lambda: bool(replicas.decisions(job, "workerpool1-0")))
    replicas.ask_to_stop(job)
    cancelled(replicas, job)
    assert_nothing_left(job)


def test_cancelled_by_its_time_limit(replicas: Any, assert_nothing_left: Clean) -> None:
    replicas.begin_job(replicas.custom_job("aip-too-long", (1, SLEEPS), spec={"scheduling": {"timeout": "1s"}}))
    message = "The job was cancelled because it was running for more than 1s."
    (cancel,) = (each for each in cancelled(replicas, "aip-too-long", message=message) if "Cause" in each)
    assert cancel["Cause"] == "max-running-time"
    assert_nothing_left("aip-too-long")
