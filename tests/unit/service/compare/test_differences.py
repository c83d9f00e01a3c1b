"""The differences between two jobs, from their answers."""

from copy import deepcopy
from typing import Any

import pytest

from smlocal.cli.commands.compare import comparison_lines
from smlocal.service.compare.differences import Comparison, Difference, compare, comparison_document
from smlocal.service.compare.subject import Archive, File, JobToCompare, subject_of
from smlocal.service.described_job import described_job

MODEL = Archive(place="/m", size=10, files={"w": File(size=5, digest="aa"), "v": File(size=6, digest="bb")})


def job(answer: dict[str, Any], title: str = "a", **more: Any) -> JobToCompare:
    known: dict[str, Any] = {"archives": {}, "no_archives": "not here", **more}
    return subject_of(answer, described_job(answer, name="x").request, title=title, origin="here", **known)


def differences(a: JobToCompare, b: JobToCompare) -> dict[str, tuple[Difference, ...]]:
    return {each.name: each.differences for each in compare(a, b).sections if each.differences}


def test_a_job_is_the_same_as_itself(answer: dict[str, Any]) -> None:
    found = compare(job(answer), job(deepcopy(answer)))
    assert found.same
    assert not differences(job(answer), job(answer))


def test_the_name_and_what_belongs_to_it_is_no_difference(answer: dict[str, Any]) -> None:
    answer["FailureReason"] = "AlgorithmError: held-tree broke, exit code: 1"
    other = deepcopy(answer)
    other |= {"TrainingJobName": "held-tree-2", "FailureReason": "AlgorithmError: held-tree-2 broke, exit code: 1"}
    assert compare(job(answer), job(other)).same


@pytest.mark.parametrize(
    ("section", "change", "paths"),
    [
        ("request", {"HyperParameters": {"epochs": "4", "note": ""}}, ["HyperParameters.epochs"]),
        ("environment", {"Environment": {"A": "1"}}, ["Environment.A"]),
        ("exit", {"SecondaryStatus": "MaxRuntimeExceeded"}, ["SecondaryStatus"]),
        ("reason", {"FailureReason": "ClientError: other"}, ["FailureReason"]),
        ("metrics", {"FinalMetricDataList": [{"MetricName": "loss", "Value": 1.0}]}, ["loss"]),
        (
            "image",
            {"AlgorithmSpecification": {"TrainingImage": "held:2", "TrainingInputMode": "File"}},
            ["AlgorithmSpecification.TrainingImage"],
        ),
    ],
)
def test_each_kind_of_difference(
    answer: dict[str, Any], section: str, change: dict[str, Any], paths: list[str]
) -> None:
    answer["FailureReason"] = "ClientError: x"
    found = differences(job(answer), job({**answer, **change}))
    assert {name: [each.path for each in several] for name, several in found.items()} == {section: paths}
    assert not compare(job(answer), job({**answer, **change})).same


def test_an_image_of_the_same_name_with_another_id(answer: dict[str, Any]) -> None:
    a, b = ({**answer, "Local": {"Image": each}} for each in ("sha256:1", "sha256:2"))
    assert differences(job(a), job(b)) == {"image": (Difference(path="id", a="sha256:1", b="sha256:2"),)}
    assert compare(job(a), job(answer)).same


def test_times_and_usage_are_shown_and_do_not_count(answer: dict[str, Any]) -> None:
    hosts = [{"Name": "algo-1", "MemoryPeakMiB": 100, "CpuPeak": 1.0, "CpuMean": 0.5, "GpuPeakPercent": None}]
    a = {**answer, "TrainingTimeInSeconds": 10, "Local": {"Usage": {"Hosts": hosts}}}
    b = deepcopy(a) | {"TrainingTimeInSeconds": 12}
    b["Local"]["Usage"]["Hosts"][0]["MemoryPeakMiB"] = 120
    found = compare(job(a), job(b))
    assert found.same
    lines = "\n".join(comparison_lines(found, width=None))
    assert "TrainingTimeInSeconds 10 → 12 · algo-1.MemoryPeakMiB 100 → 120" in lines
    only = compare(job(a), job(answer, "b"))
    assert "usage: b was not measured" in "\n".join(comparison_lines(only, width=None))


@pytest.mark.parametrize(
    ("other", "paths"),
    [
        (None, ["model.tar.gz"]),
        (
            Archive(place="/n", size=11, files={**(MODEL.files or {}), "w": File(size=5, digest="cc")}),
            ["model.tar.gz: w"],
        ),
        (Archive(place="/n", size=11, files={"w": File(size=5, digest="aa")}), ["model.tar.gz: v"]),
        (Archive(place="/n", size=11, files=MODEL.files), []),
        (Archive(place="/n", size=11, files={name: File(size=n, digest=None) for name, n in (("w", 5), ("v", 6))}), []),
    ],
)
def test_archives(answer: dict[str, Any], other: Archive | None, paths: list[str]) -> None:
    a = job(answer, archives={"model.tar.gz": MODEL, "output.tar.gz": None}, no_archives="")
    b = job(answer, archives={"model.tar.gz": other, "output.tar.gz": None}, no_archives="")
    assert [each.path for each in differences(a, b).get("archives", ())] == paths


@pytest.mark.parametrize(("names", "text"), [("w", "1 file"), ("wv", "2 files")])
def test_an_archive_that_only_one_job_has(answer: dict[str, Any], names: str, text: str) -> None:
    files = {name: File(size=5, digest="aa") for name in names}
    a, b = (
        job(answer, archives={"model.tar.gz": each, "output.tar.gz": None}, no_archives="")
        for each in (Archive(place="/m", size=10, files=files), None)
    )
    assert f"  model.tar.gz  {text} → none" in [*comparison_lines(compare(a, b), width=None)]


def test_an_archive_that_is_gone_is_not_compared(answer: dict[str, Any]) -> None:
    gone = Archive(place="/n", size=None, files=None, trouble="it is no longer there")
    a, b = (job(answer, archives={"model.tar.gz": each}, no_archives="") for each in (MODEL, gone))
    found = compare(a, b)
    assert found.same
    assert "Not compared  archives: /n: it is no longer there" in [*comparison_lines(found, width=None)]


def test_a_request_has_no_outcome(answer: dict[str, Any]) -> None:
    request = described_job(answer, name="x").request
    found = compare(subject_of({}, request, title="r", origin="a document", archives={}), job(answer))
    assert found.same
    assert "Not compared  outcome: r is not a job, only a request" in [*comparison_lines(found, width=None)]


def shown(answer: dict[str, Any], change: dict[str, Any], *, width: int | None = 80) -> list[str]:
    return [*comparison_lines(found(answer, change), width=width)]


def found(answer: dict[str, Any], change: dict[str, Any]) -> Comparison:
    return compare(job(answer), job({**answer, **change}, "b"))


def test_differences_come_first_and_long_ones_below_each_other(answer: dict[str, Any]) -> None:
    change = {"HyperParameters": {"epochs": "4", "note": "long " * 20}, "FailureReason": "ClientError: \x1b[2Jx"}
    lines = shown(answer, change)
    assert lines[:4] == [
        "A  a   here, Failed",
        "B  b   here, Failed",
        "Differs: request",
        "  HyperParameters.epochs  3 → 4",
    ]
    assert lines[4] == "  HyperParameters.note"
    assert lines[5] == "    A"
    assert lines[6].startswith("    B  long long")
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in "".join(lines)
    assert lines[-2].startswith("Same          image · ")


def test_secrets_are_hidden_on_the_screen_and_not_in_the_document(answer: dict[str, Any]) -> None:
    change = {"Environment": {"HF_TOKEN": "hunter2", "SETTINGS": '{"password": "hunter2"}'}}
    assert "hunter2" not in "\n".join(shown(answer, change))
    sections = comparison_document(found(answer, change))["Sections"]
    assert sections["environment"]["Differences"][0] == {"Path": "Environment.HF_TOKEN", "A": None, "B": "hunter2"}


def test_many_differences_are_counted(answer: dict[str, Any]) -> None:
    lines = shown(answer, {"HyperParameters": {f"p{number}": "1" for number in range(40)}})
    assert "  and 12 more: --json has all" in lines
