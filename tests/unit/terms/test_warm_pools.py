"""What has become of a warm pool at a time."""

from typing import Any

from smlocal.terms.statuses import LONGEST, PoolState, pool_state

KEPT: dict[str, Any] = {"Folder": "a.1", "Like": "{}", "Seconds": 60, "Since": 900.0, "Kept": True}


def at(now: float, document: dict[str, Any] = KEPT, ended: float | None = 1000.5) -> PoolState:
    return pool_state(document, ended=ended, now=now)


def test_it_is_in_use_as_long_as_its_job_runs() -> None:
    assert at(5000.0, ended=None) == PoolState(status="InUse")


def test_it_is_available_for_its_time_and_then_over() -> None:
    assert at(1060.4) == PoolState(status="Available")
    assert at(1060.5) == PoolState(status="Terminated", retained=60, expired=True)
    assert at(9999.0) == at(1060.5)


def test_a_job_that_took_it_ends_it_for_the_earlier_one_for_ever() -> None:
    reused = {**KEPT, "Over": 1010.0, "ReusedBy": "b-2.run"}
    for now in (1010.0, 5000.0):
        assert at(now, reused) == PoolState(status="Reused", retained=9, reused_by="b-2")


def test_a_person_ends_it_early() -> None:
    assert at(5000.0, {**KEPT, "Over": 1020.6}) == PoolState(status="Terminated", retained=20)


def test_a_failure_of_the_machines_keeps_none() -> None:
    not_kept = {key: value for key, value in KEPT.items() if key != "Kept"}
    assert at(1000.6, not_kept) == PoolState(status="Terminated", retained=0)


def test_it_goes_from_job_to_job_for_28_days_at_most() -> None:
    since = 1010.5 - LONGEST
    assert at(1010.4, {**KEPT, "Since": since}).status == "Available"
    assert at(1010.5, {**KEPT, "Since": since}) == PoolState(status="Terminated", retained=10, expired=True)
    assert at(1001.0, {**KEPT, "Since": since - 60}) == PoolState(status="Terminated", retained=0, expired=True)
