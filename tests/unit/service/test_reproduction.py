"""Jobs that can be reproduced, the request of each, and how it is shown."""

from dataclasses import replace
from typing import Any

import pytest

from smlocal.cli.reproducing import reproduction_lines
from smlocal.errors import ServiceJobRunningError, UsageRefusedError
from smlocal.service.described_job import DescribedJob, described_job
from smlocal.service.job_end import LogEnd, end_of, verdict_of
from smlocal.service.reproduction import (
    Explanation,
    Reproduction,
    check_ended,
    document_for,
    reproduction,
    reproduction_document,
)

LINES = LogEnd(lines={"algo-1": ["epoch 1 took 3.5 s", "ValueError: five"]})


def job_of(answer: dict[str, Any]) -> DescribedJob:
    return described_job(answer, name="job.json")


@pytest.mark.parametrize("status", ["InProgress", "Stopping"])
def test_a_job_that_runs_is_refused(answer: dict[str, Any], status: str) -> None:
    answer["TrainingJobStatus"] = status
    with pytest.raises(ServiceJobRunningError, match=f"held-tree is still {status} in job.json"):
        check_ended(job_of(answer), file="job.json")
    with pytest.raises(ServiceJobRunningError, match=rf"held-tree is still {status}$"):
        check_ended(job_of(answer), file=None)


def test_what_has_no_end_is_refused(answer: dict[str, Any]) -> None:
    check_ended(job_of(answer), file="job.json")
    with pytest.raises(UsageRefusedError, match="is a request"):
        check_ended(described_job(job_of(answer).request, name="job.json"), file="job.json")
    del answer["TrainingJobStatus"]
    with pytest.raises(UsageRefusedError, match="no TrainingJobStatus"):
        check_ended(job_of(answer), file="job.json")


def test_the_request_of_the_run(answer: dict[str, Any]) -> None:
    document = document_for(job_of(answer), directory="/there", sample=5)
    assert document.directory == "/there"
    assert document.data["TrainingJobName"].startswith("held-tree-2")
    assert document.data["Local"] == {"Region": "eu-west-1", "Sample": 5}
    assert "TrainingJobStatus" not in document.data
    assert "Sample" not in document_for(job_of(answer), directory=None, sample=None).data["Local"]


def made(answer: dict[str, Any], here: dict[str, Any], *, logs: tuple[LogEnd, LogEnd] = (LINES, LINES)) -> Reproduction:
    ends = [end_of(each, log) for each, log in zip((answer, {**answer, **here}), logs, strict=True)]
    return Reproduction(there=ends[0], here=ends[1], sample=None, verdict=verdict_of(ends[0], ends[1]))


def test_both_ends_on_a_screen(answer: dict[str, Any]) -> None:
    answer["FinalMetricDataList"] = [{"MetricName": "loss", "Value": 0.5}]
    here = {"TrainingJobName": "held-tree-2", "FinalMetricDataList": [], "FailureReason": "AlgorithmError: \x1b[2J"}
    other = LogEnd(lines={"algo-1": ["epoch 1 took 9.1 s", "\x1b[31mKeyError"]})
    lines = [*reproduction_lines(made(answer, here, logs=(LINES, other)), width=80)]
    text = "\n".join(lines)
    assert lines[1] == "Job             held-tree                        held-tree-2"
    assert "Metric loss     0.5                              none" in lines
    assert "\x1b" not in text
    assert text.index("Last lines of the log there") < text.index("ValueError: five") < text.index("KeyError")
    assert " ".join(lines[-2:]).endswith("with different reasons.")
    assert max(map(len, lines)) <= 80


def test_logs_that_agree_are_shown_once_and_one_that_is_missing_is_named(answer: dict[str, Any]) -> None:
    other = LogEnd(lines={"algo-1": ["epoch 1 took 9.1 s", "ValueError: five"]})
    lines = [*reproduction_lines(made(answer, {}, logs=(LINES, other)), width=None)]
    assert "Last lines of the log, the same there and here" in lines
    assert lines.count("  ValueError: five") == 1
    gone = LogEnd(lines={}, missing="its retention period is over")
    lines = [*reproduction_lines(made(answer, {}, logs=(gone, other)), width=None)]
    assert "Log there       its retention period is over" in lines
    assert "  ValueError: five" in lines


def test_what_may_explain_it_is_before_the_sentence(answer: dict[str, Any]) -> None:
    given = (
        Explanation(text="the image is another one"),
        Explanation(text="memory", option="--enforce-limits", words=("--enforce-limits",)),
        Explanation(text="the data", without="--sample"),
    )
    found = replace(made(answer, {"FailureReason": "x"}), explanations=given, next="smlocal rerun x")
    lines = [*reproduction_lines(found, width=None)]
    assert lines[-6:-1] == [
        "What may explain it",
        "  the image is another one",
        "  memory: --enforce-limits",
        "  the data: leave out --sample",
        "",
    ]
    document = reproduction_document(found)
    assert document["Explanations"][1] == {"Text": "memory", "Option": "--enforce-limits"}
    assert document["Next"] == "smlocal rerun x"


def test_the_run_does_not_change_the_job(answer: dict[str, Any]) -> None:
    job = job_of(answer)
    document = document_for(job, directory=None, sample=None)
    document.set(("HyperParameters", "epochs"), "4")
    assert job.request["HyperParameters"]["epochs"] == "3"
    found = reproduction(job, document.data, {**answer, "FailureReason": "x"}, lambda _: LINES)
    assert [each.text for each in found.explanations][-1].endswith("HyperParameters.epochs")
    assert reproduction(job, document.data, answer, lambda _: LINES).explanations == ()


def test_a_document(answer: dict[str, Any]) -> None:
    found = reproduction_document(replace(made(answer, {"TrainingJobName": "x", "FailureReason": "x broke"}), sample=3))
    assert (found["Reproduced"], found["Sample"]) == (False, 3)
    assert found["Here"]["NormalisedReason"] == "<job> broke"
    assert found["There"]["LastLines"] == ["epoch 1 took 3.5 s", "ValueError: five"]
    assert found["There"]["ExitCode"] is None
