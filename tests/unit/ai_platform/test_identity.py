import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.ai_platform.identity import custom_job_number, job_name, job_region, resource_name
from smlocal.ai_platform.model.members import ReplicaJobKind

NOW = datetime(2026, 11, 23, 17, 15, 9, 123456, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "request_", "stem", "name"),
    [
        (ReplicaJobKind.TRAINING_JOB, {"jobId": "census_1"}, "job", "census_1"),
        (ReplicaJobKind.TRAINING_JOB, {}, "my-job", "my_job_20261123_171509_123"),
        (ReplicaJobKind.CUSTOM_JOB, {}, "my_job", "my-job-20261123-171509-123"),
        (ReplicaJobKind.CUSTOM_JOB, {"displayName": "Census, 2026"}, "job", "Census-2026-20261123-171509-123"),
        (ReplicaJobKind.CUSTOM_JOB, {"displayName": "国勢調査"}, "job", "job-20261123-171509-123"),
        (ReplicaJobKind.CUSTOM_JOB, {"displayName": "2026"}, "job", "job-2026-20261123-171509-123"),
    ],
)
def test_the_name_of_a_job(kind: ReplicaJobKind, request_: dict[str, Any], stem: str, name: str) -> None:
    assert job_name(kind, request_, stem=stem, now=NOW) == name


@given(kind=st.sampled_from(ReplicaJobKind), stem=st.text(max_size=200))
def test_every_name_is_valid(kind: ReplicaJobKind, stem: str) -> None:
    valid = r"[a-zA-Z][a-zA-Z0-9_]{0,62}" if kind is ReplicaJobKind.TRAINING_JOB else r"[a-zA-Z](-?[a-zA-Z0-9]){0,62}"
    assert re.fullmatch(valid, job_name(kind, {}, stem=stem, now=NOW), re.ASCII)


def test_the_region() -> None:
    assert job_region(ReplicaJobKind.TRAINING_JOB, {"trainingInput": {"region": "a"}}, stated="b") == "a"
    assert job_region(ReplicaJobKind.TRAINING_JOB, {"trainingInput": {}}, stated="b") == "b"
    assert job_region(ReplicaJobKind.CUSTOM_JOB, {"jobSpec": {}}, stated=None) == "us-central1"


def test_the_number_of_a_custom_job_is_its_own() -> None:
    numbers = {custom_job_number(f"job-{index}") for index in range(100)}
    assert len(numbers) == 100
    assert all(len(number) == 19 for number in numbers)
    name = resource_name("job-1", region="europe-west4")
    assert name == f"projects/000000000000/locations/europe-west4/customJobs/{custom_job_number('job-1')}"
