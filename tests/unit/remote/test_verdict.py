"""When a job counts as reproduced."""

from dataclasses import replace

import pytest

from smlocal.remote.job_end import JobEnd, LogEnd
from smlocal.remote.verdict import judge, last_lines_agree, same_value

EMPTY = "AlgorithmError: , exit code: 1"
FAILED = JobEnd(
    name="there",
    status="Failed",
    secondary="Failed",
    reason="AlgorithmError: no such file (job there), exit code: 1",
    exit_code=1,
    host="algo-1",
    phases=(),
    metrics={},
    log=LogEnd(lines={}, missing="gone"),
)
HERE = replace(FAILED, name="here", reason="AlgorithmError: no such file (job here), exit code: 1")
COMPLETED = replace(FAILED, status="Completed", secondary="Completed", reason=None, exit_code=0)
TIMED_OUT = replace(FAILED, status="Stopped", secondary="MaxRuntimeExceeded", reason=None, exit_code=None)


def logged(end: JobEnd, *lines: str) -> JobEnd:
    return replace(end, log=LogEnd(lines={"algo-1": lines}))


def test_the_same_reason_under_another_name() -> None:
    found = judge(FAILED, HERE)
    assert found.reproduced
    assert found.sentence == "Reproduced: the job Failed there and here with the same reason (exit code 1)."


@pytest.mark.parametrize(
    ("there", "here"),
    [
        (FAILED, COMPLETED),
        (COMPLETED, FAILED),
        (FAILED, replace(HERE, reason="AlgorithmError: something else, exit code: 1")),
        (FAILED, replace(HERE, reason="AlgorithmError: no such file (job here), exit code: 2")),
        (TIMED_OUT, replace(TIMED_OUT, secondary="Stopped")),
        (TIMED_OUT, COMPLETED),
    ],
)
def test_another_end_is_not_reproduced(there: JobEnd, here: JobEnd) -> None:
    found = judge(there, here)
    assert not found.reproduced
    assert found.sentence.startswith("Not reproduced: ")


@pytest.mark.parametrize("end", [COMPLETED, TIMED_OUT])
def test_the_same_end_without_a_reason(end: JobEnd) -> None:
    assert judge(end, replace(end, name="here", metrics={"loss": 1.0})).reproduced


def test_of_a_reason_without_text_the_logs_decide() -> None:
    there, here = replace(FAILED, reason=EMPTY), replace(HERE, reason=EMPTY)
    unsure = judge(there, here)
    assert unsure.reproduced
    assert "a log is missing" in unsure.sentence
    alike = judge(logged(there, "x", "ValueError at 0x7f3c2a1b5d90", ""), logged(here, "ValueError at 0x7f0000000000"))
    assert alike.reproduced
    assert alike.sentence.endswith("the logs end with the same line.")
    other = judge(logged(there, "ValueError"), logged(here, "KeyError"))
    assert not other.reproduced
    assert other.sentence.endswith("the logs end differently.")


def test_a_sample_is_told() -> None:
    assert judge(FAILED, HERE, sampled=True).sentence.endswith("The run here had only a sample of the data.")


def test_last_lines_that_are_not_known() -> None:
    assert last_lines_agree(FAILED, logged(HERE, "x")) is None
    assert last_lines_agree(logged(FAILED, "", " "), logged(HERE, "x")) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (0.127, 0.12700000405311584, True),
        (0.127, 0.128, False),
        (float("nan"), float("nan"), True),
        (float("inf"), float("inf"), True),
        (float("inf"), 1.0, False),
        (float("inf"), float("-inf"), False),
        (float("nan"), 1.0, False),
        (0.0, 1e-9, False),
    ],
)
def test_values_of_32_bits(one: float, other: float, *, same: bool) -> None:
    assert same_value(one, other) is same
