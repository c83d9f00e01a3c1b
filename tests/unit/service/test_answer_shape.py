"""Descriptions that were damaged or edited are refused, whatever is wrong with them; no traceback."""

from contextlib import suppress
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from smlocal.errors import NotATrainingJobError
from smlocal.service.compare.differences import compare, comparison_document
from smlocal.service.compare.subject import subject_of
from smlocal.service.described_job import check_shape, described_job
from smlocal.service.job_end import log_of_answer

ANSWER: dict[str, Any] = {
    "TrainingJobName": "held-tree",
    "TrainingJobArn": "arn:aws:sagemaker:eu-west-1:123456789012:training-job/held-tree",
    "ModelArtifacts": {"S3ModelArtifacts": "s3://bucket/model.tar.gz"},
    "TrainingJobStatus": "Failed",
    "SecondaryStatus": "Failed",
    "FailureReason": "AlgorithmError: no, exit code: 1",
    "HyperParameters": {"epochs": "3"},
    "AlgorithmSpecification": {"TrainingImage": "held:1", "TrainingInputMode": "File"},
    "SecondaryStatusTransitions": [{"Status": "Training", "StartTime": 1.0, "EndTime": 2.0, "StatusMessage": "x"}],
    "FinalMetricDataList": [{"MetricName": "loss", "Value": 0.5, "Timestamp": 2.0}],
    "TrainingTimeInSeconds": 1,
    "Local": {
        "Image": "sha256:1",
        "FailedHost": "algo-1",
        "Hosts": [{"Name": "algo-1", "ExitCode": 1, "Log": None}],
        "Artifacts": {"Model": None, "Output": None},
        "Usage": {"Hosts": [{"Name": "algo-1", "MemoryPeakMiB": 5, "CpuPeak": 0.5}]},
        "Request": {},
    },
}
ANYTHING = st.sampled_from([None, "x", 7, -1.5, [], {}, [1], [None], {"a": 1}, True, "2026-13-01", float("nan")])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


def compared(answer: dict[str, Any]) -> None:
    job = described_job(answer, name="f.json")
    known = job.answer or {}
    check_shape(known, name="f.json")
    one = subject_of(known, job.request, title="f.json", origin="a document", archives={})
    comparison_document(compare(one, one))
    log_of_answer(known)


def test_a_whole_description_is_taken() -> None:
    compared(ANSWER)


@given(place=st.sampled_from(places(ANSWER)), value=ANYTHING, absent=st.booleans())
def test_a_damaged_description_is_compared_or_refused(place: tuple[Any, ...], value: Any, *, absent: bool) -> None:
    answer = deepcopy(ANSWER)
    inner: Any = answer
    for step in place[:-1]:
        inner = inner[step]
    if absent:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    with suppress(NotATrainingJobError):
        compared(answer)
