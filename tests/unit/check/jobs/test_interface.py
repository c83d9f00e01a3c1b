"""The texts about a job that has ended."""

from typing import Any

import pytest

from smlocal.check.jobs.interface import CheckedHost, JobResult, handles_sigterm


def ended(**members: Any) -> JobResult:
    given: dict[str, Any] = {
        "job": "check-1-0-plain",
        "status": "Failed",
        "secondary": "Failed",
        "reason": "AlgorithmError: , exit code: 1",
        "seconds": 1.0,
        "limit": 60,
        "grace": 1,
        "hosts": (),
        "model": False,
        "log": "",
        "local": {},
        **members,
    }
    return JobResult(**given)


@pytest.mark.parametrize(
    ("reason", "explanation"),
    [
        ("AlgorithmError: , exit code: 1", ""),
        ("AlgorithmError: no data, exit code: 1", "no data"),
        ("AlgorithmError: exit code: 3, exit code: 255", "exit code: 3"),
        ("ClientError: Data download failed:Insufficient disk space", ""),
        ("", ""),
    ],
)
def test_what_the_failure_file_said(reason: str, explanation: str) -> None:
    assert ended(reason=reason).explanation == explanation


@pytest.mark.parametrize(
    ("reason", "machine"),
    [
        ("InternalServerError: We encountered an internal error. Please try again.", True),
        ("ClientError: Data download failed:Insufficient disk space", True),
        ("ClientError: Data download failed:NoSuchKey (404)", False),
        ("AlgorithmError: InternalServerError, exit code: 1", False),
        ("", False),
    ],
)
def test_whether_it_was_this_machine_that_failed_it(reason: str, *, machine: bool) -> None:
    assert ended(reason=reason).by_machine is machine


def test_how_a_job_ended() -> None:
    assert ended(reason="AlgorithmError: boom\n, exit code: 1").how == "Failed: AlgorithmError: boom , exit code: 1"
    assert ended(reason="AlgorithmError: two\nlines, exit code: 1").how == "Failed: AlgorithmError: …, exit code: 1"
    assert ended(reason="ClientError: two\nlines").how == "Failed: ClientError: …"
    assert ended(status="Stopped", secondary="MaxRuntimeExceeded", reason="").how == (
        "it did not end within 60 s and was stopped"
    )
    assert ended(status="Completed", secondary="Completed", reason="").how == "Completed"
    assert len(ended(reason="x" * 1000).how) < 220


def test_the_host_that_failed_is_named_among_several() -> None:
    good, bad = (
        CheckedHost(name=f"algo-{number}", exit_code=code, oom_killed=False, killed=False)
        for number, code in ((1, 0), (2, 5))
    )
    assert ended(hosts=(good, bad)).first_failed == "algo-2"
    assert ended(hosts=(bad,)).first_failed == ""


@pytest.mark.parametrize(("mask", "handled"), [(0, False), (1 << 14, True), (0x4002, True), (0xFFFFBFFF, False)])
def test_whether_sigterm_is_in_a_mask(mask: int, *, handled: bool) -> None:
    assert handles_sigterm(mask) is handled


def test_the_hints_and_the_last_lines_of_the_host_that_failed() -> None:
    hosts = tuple(
        CheckedHost(name=f"algo-{number}", exit_code=code, oom_killed=False, killed=False)
        for number, code in ((1, 5), (2, 137))
    )
    log = "".join(f"algo-1 | {number}\n" for number in range(9)) + "algo-2 | other\n"
    assert ended(hosts=hosts, log=log, local={"Hints": ["set it"]}).details == (
        "hint: set it",
        "last lines of the log:",
        *(f"  algo-1 | {number}" for number in range(4, 9)),
    )
    assert ended(log="\n").details == ()
    assert len(ended(log="x" * 1000).details[-1]) < 210


def test_a_reason_keeps_its_lines_and_is_not_repeated_from_the_log() -> None:
    said = "Traceback (most recent call last):\n  File 'x', line 1\n\nValueError: no data\n"
    result = ended(reason=f"AlgorithmError: {said}, exit code: 1", log=said, local={"Hints": ["set it"]})
    lines = ("Traceback (most recent call last):", "  File 'x', line 1", "ValueError: no data")
    assert result.reason_lines == lines
    assert result.details == (*lines, "hint: set it")
    assert ended(reason=result.reason, log="other\n").details == (*lines, "last lines of the log:", "  other")
    assert ended(reason="AlgorithmError: one line\n, exit code: 1").reason_lines == ()
    assert ended(reason="ClientError: a\nb").reason_lines == ("ClientError: a", "b")
