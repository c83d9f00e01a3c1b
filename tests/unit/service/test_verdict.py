"""When a job counts as reproduced."""

from dataclasses import replace

import pytest

from smlocal.service.job_end import JobEnd, LogEnd, end_of, last_lines_agree, same_value, verdict_of

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
    found = verdict_of(FAILED, HERE)
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
    found = verdict_of(there, here)
    assert not found.reproduced
    assert found.sentence.startswith("Not reproduced: ")


@pytest.mark.parametrize("kind", ["InternalServerError", "CapacityError"])
def test_a_failure_of_the_service_itself_has_no_verdict(kind: str) -> None:
    there = end_of({"TrainingJobName": "there", "TrainingJobStatus": "Failed", "FailureReason": f"{kind}: try again"})
    for here in (COMPLETED, HERE, replace(HERE, reason=f"{kind}: try again")):
        found = verdict_of(there, here)
        assert found.reproduced is None
        assert found.sentence.startswith(
            f"No verdict: there the job Failed with {kind}, which is a failure of the service itself."
        )


def test_words_before_a_reason_that_was_passed_on() -> None:
    told = f"Received status from SageMaker: {FAILED.reason}"
    there = end_of({"TrainingJobName": "there", "TrainingJobStatus": "Failed", "FailureReason": told})
    assert (there.reason, there.exit_code) == (FAILED.reason, 1)
    assert verdict_of(there, HERE).reproduced


@pytest.mark.parametrize("end", [COMPLETED, TIMED_OUT])
def test_the_same_end_without_a_reason(end: JobEnd) -> None:
    assert verdict_of(end, replace(end, name="here", metrics={"loss": 1.0})).reproduced


def test_of_a_reason_without_text_the_logs_decide() -> None:
    there, here = replace(FAILED, reason=EMPTY), replace(HERE, reason=EMPTY)
    unsure = verdict_of(there, here)
    assert unsure.reproduced
    assert "a log is missing" in unsure.sentence
    alike = verdict_of(
        logged(there, "x", "ValueError at 0x7f3c2a1b5d90", ""), logged(here, "ValueError at 0x7f0000000000")
    )
    assert alike.reproduced
    assert alike.sentence.endswith("the logs end with the same line.")
    other = verdict_of(logged(there, "ValueError"), logged(here, "KeyError"))
    assert not other.reproduced
    assert other.sentence.endswith("the logs end differently.")


def empty(end: JobEnd, **log: object) -> JobEnd:
    return replace(end, reason=EMPTY, log=LogEnd(**{"lines": {"": ["KeyError"]}, **log}))  # type: ignore[arg-type]


def test_a_log_whose_end_is_not_known_gives_no_verdict_unless_it_agrees() -> None:
    here = replace(logged(HERE, "ValueError"), reason=EMPTY)
    cut = verdict_of(empty(FAILED, unsure="it is cut"), here)
    assert cut.reproduced is None
    assert cut.sentence.startswith("No verdict: ")
    assert cut.sentence.endswith("The logs cannot tell: it is cut.")
    assert verdict_of(empty(FAILED, unsure="it is cut", lines={"": ["ValueError"]}), here).reproduced


def test_a_log_of_another_host_gives_no_verdict() -> None:
    here = replace(HERE, reason=EMPTY, host="algo-2", log=LogEnd(lines={"algo-1": ["x"], "algo-2": ["ValueError"]}))
    other = verdict_of(empty(FAILED, lines={"algo-1": ["KeyError"]}), here)
    assert (other.reproduced, "the one of algo-1, and here algo-2 failed first" in other.sentence) == (None, True)
    mixed = verdict_of(empty(FAILED), here)
    assert (mixed.reproduced, "does not say which host" in mixed.sentence) == (None, True)
    assert verdict_of(empty(FAILED, lines={"": ["ValueError"]}), here).reproduced


def test_any_of_the_lines_of_one_time_may_be_the_last() -> None:
    there = empty(FAILED, lines={"": ["KeyError", "x"]}, last={"": ["KeyError", "x"]})
    assert verdict_of(there, replace(logged(HERE, "KeyError"), reason=EMPTY)).reproduced
    assert verdict_of(there, replace(logged(HERE, "ValueError"), reason=EMPTY)).reproduced is False


def test_times_before_a_line_and_progress_bars_do_not_count() -> None:
    there = empty(FAILED, lines={"": ["2026-11-23 10:00:00,123 ERROR 10%\r20% done"]})
    assert verdict_of(there, replace(logged(HERE, "20% done"), reason=EMPTY)).reproduced
    there = empty(FAILED, lines={"": ["2026-11-23T10:00:00 2026-11-23 10:00:00 ERROR x"]})
    assert verdict_of(there, replace(logged(HERE, "2026-11-24 10:00:00 ERROR x"), reason=EMPTY)).reproduced


def test_a_sample_is_told() -> None:
    assert verdict_of(FAILED, HERE, sampled=True).sentence.endswith("The run here had only a sample of the data.")


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
