"""The end of a job, from every kind of answer."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from smlocal.service.job_end import LogEnd, end_of, log_of_answer, seconds_since_epoch


def test_of_the_service(answer: dict[str, Any]) -> None:
    answer |= {
        "FailureReason": "AlgorithmError: no, exit code: 7",
        "SecondaryStatusTransitions": [
            {"Status": "Starting", "StartTime": "2026-11-20T10:00:00+00:00", "EndTime": "2026-11-20T10:01:30+00:00"},
            {"Status": "Failed", "StartTime": "2026-11-20T10:01:30+00:00"},
        ],
        "FinalMetricDataList": [{"MetricName": "loss", "Value": 0.5, "Timestamp": "2026-11-20T10:01:30+00:00"}],
    }
    end = end_of(answer)
    assert (end.name, end.status, end.exit_code, end.host, end.ended) == ("held-tree", "Failed", 7, "algo-1", True)
    assert [(phase.status, phase.seconds) for phase in end.phases] == [("Starting", 90.0), ("Failed", None)]
    assert end.metrics == {"loss": 0.5}


def test_of_this_machine_the_host_that_failed_first_decides(answer: dict[str, Any]) -> None:
    hosts = [{"Name": "algo-1", "ExitCode": 143, "Log": None}, {"Name": "algo-2", "ExitCode": 17, "Log": None}]
    answer["Local"] = {"Hosts": hosts, "FailedHost": "algo-2"}
    end = end_of(answer)
    assert (end.host, end.exit_code) == ("algo-2", 17)


@pytest.mark.parametrize(("status", "code"), [("Completed", 0), ("Stopped", None), ("InProgress", None)])
def test_an_exit_code_that_is_not_told(answer: dict[str, Any], status: str, code: int | None) -> None:
    del answer["FailureReason"]
    answer["TrainingJobStatus"] = status
    end = end_of(answer)
    assert (end.exit_code, end.reason, end.ended) == (code, None, status != "InProgress")


@pytest.mark.parametrize(
    "when",
    [
        1763632800.0,
        1763632800,
        "2025-11-20T10:00:00+00:00",
        "2025-11-20 10:00:00Z",
        datetime(2025, 11, 20, 10, tzinfo=UTC),
    ],
)
def test_times_as_they_are_saved(when: object) -> None:
    assert seconds_since_epoch(when) == 1763632800


@pytest.mark.parametrize("when", [None, True, "yesterday", ["x"]])
def test_what_is_no_time(when: object) -> None:
    assert seconds_since_epoch(when) is None


def test_the_logs_that_an_answer_names(tmp_path: Path) -> None:
    log = tmp_path / "algo-1.log"
    log.write_text("".join(f"line\t{number}\n" for number in range(50)))
    hosts = [{"Name": "algo-1", "Log": str(log)}, {"Name": "algo-2", "Log": str(tmp_path / "none")}]
    found = log_of_answer({"Local": {"Hosts": hosts}})
    assert list(found.lines) == ["algo-1"]
    assert list(found.lines["algo-1"])[-1] == "line#01149"
    assert len(found.lines["algo-1"]) == 20
    assert found.of("algo-2") == found.of("algo-1")


def test_an_answer_without_logs() -> None:
    found = log_of_answer({})
    assert found.missing is not None
    assert found.of("algo-1") == ()
    assert LogEnd(lines={"": ["x"]}).of("algo-2") == ["x"]
