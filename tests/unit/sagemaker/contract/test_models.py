"""The models, and that pydantic's view of them is the same."""

import subprocess
import sys
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.kit import examples

from smlocal.errors import SmlocalError
from smlocal.jobfile.document import Document
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.contract.coverage.members import TABLE
from smlocal.sagemaker.contract.model.describe import DescribeTrainingJobResponse
from smlocal.sagemaker.contract.model.request import Channel, CreateTrainingJobRequest, DataSource
from smlocal.sagemaker.jobfile.job_file import read_job
from smlocal.terms.model.as_pydantic import pydantic_model
from smlocal.terms.validation.walk import validate

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KNOWN = st.sampled_from(["File", "Pipe", "S3Prefix", "None", "Gzip", "ml.m5.large", "./data", "s3://b/k", "a_b", "a"])


@st.composite
def damaged(draw: st.DrawFn, request_with: Any) -> dict[str, Any]:
    """A valid request in which a member or two are something else."""
    request: dict[str, Any] = request_with(draw(st.sampled_from(list(TABLE))))
    for _ in range(draw(st.integers(min_value=1, max_value=2))):
        target: Any = request
        for _ in range(draw(st.integers(min_value=0, max_value=4))):
            inner = [part for part in (target.values() if isinstance(target, dict) else target) if part]
            containers = [part for part in inner if isinstance(part, dict | list)]
            if containers:
                target = draw(st.sampled_from(containers))
        key: Any = (
            draw(st.sampled_from([*target, "New"]))
            if isinstance(target, dict)
            else draw(st.integers(0, len(target) - 1))
        )
        target[key] = draw(ANYTHING | KNOWN)
    return request


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), strict=st.booleans())
def test_pydantic_decides_alike(request_with: Any, data: st.DataObject, *, strict: bool) -> None:
    request = data.draw(damaged(request_with))
    context = {"strict": True} if strict else None
    try:
        model = pydantic_model(CreateTrainingJobRequest).model_validate(request, context=context)
        expected = model.model_dump(exclude_none=True)
    except ValidationError:
        expected = None
    valid, violations = validate(CreateTrainingJobRequest, request, strict=strict)
    assert (None if valid is None else valid.plain()) == expected
    assert (valid is None) == bool(violations)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), strict=st.booleans())
def test_no_request_makes_anything_but_an_error_of_ours(
    request_with: Any, data: st.DataObject, *, strict: bool
) -> None:
    request = data.draw(damaged(request_with) | st.dictionaries(st.text(max_size=8), ANYTHING, max_size=4))
    if data.draw(st.booleans()):
        request["Local"] = data.draw(ANYTHING | st.fixed_dictionaries({"Sources": ANYTHING, "Pull": KNOWN}))
    document = Document(request, name="job.yaml", directory="/")
    details: tuple[str, ...] = ("fine",)
    try:
        read_job(document, strict=strict)
    except SmlocalError as error:
        details = error.details
    assert details
    assert "".join(details).isprintable()


def test_a_model_is_frozen_and_closed(read: Any, request_with: Any) -> None:
    job = read(request_with("StoppingCondition.MaxRuntimeInSeconds", 60))
    with pytest.raises(FrozenInstanceError):
        job.request.TrainingJobName = "other"
    assert job.request.plain() == {**request_with(), "StoppingCondition": {"MaxRuntimeInSeconds": 60}}
    assert job.request.TrainingJobName is None
    assert repr(job.request.StoppingCondition).startswith("StoppingCondition(MaxRuntimeInSeconds=60, ")
    with pytest.raises(TypeError, match="Channel needs ChannelName"):
        Channel(DataSource=DataSource())  # type: ignore[call-arg] # the mistake that is meant
    with pytest.raises(TypeError, match="has no hash"):
        hash(job.request)


def test_defaults_of_local_are_not_shared() -> None:
    first, _ = validate(LocalSettings, {}, strict=False)
    second, _ = validate(LocalSettings, {}, strict=False)
    assert first is not None
    assert second is not None
    assert first == second == LocalSettings()
    assert first.Sources is not second.Sources


def test_an_answer_of_the_service_is_a_valid_describe_model() -> None:
    answer = {
        "TrainingJobName": "a",
        "TrainingJobArn": "arn:aws:sagemaker:us-east-1:123456789012:training-job/a",
        "ModelArtifacts": {"S3ModelArtifacts": "s3://bucket/a/output/model.tar.gz"},
        "TrainingJobStatus": "Completed",
        "SecondaryStatus": "Completed",
        "StoppingCondition": {"MaxRuntimeInSeconds": 86400},
        "CreationTime": 1795000000.123,
        "SecondaryStatusTransitions": [{"Status": "Starting", "StartTime": 1795000000, "StatusMessage": "x"}],
        "FinalMetricDataList": [{"MetricName": "loss", "Value": 0.1, "Timestamp": 1795000000.5}],
    }
    valid, _ = validate(DescribeTrainingJobResponse, answer, strict=True)
    assert valid is not None
    assert valid.plain() == answer
    assert valid == validate(DescribeTrainingJobResponse, answer, strict=True)[0]
    _, wrong = validate(DescribeTrainingJobResponse, answer | {"TrainingJobStatus": "Done"}, strict=True)
    assert len(wrong) == 1


def test_reading_a_job_imports_nothing_that_costs_much() -> None:
    code = """
import sys
from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.jobfile.job_file import read_job
text = (
    '{"AlgorithmSpecification": {"TrainingImage": "i", "TrainingInputMode": "File"}, '
    '"OutputDataConfig": {"S3OutputPath": "out"}, '
    '"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1}}'
)
read_job(load_document(text, name="job.json", directory="/"), strict=False)
print(*sorted(sys.modules), sep="\\n")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    expensive = {
        "boto3",
        "difflib",
        "importlib.metadata",
        "pydantic",
        "pydantic_core",
        "smlocal.sagemaker.contract.model.describe",
        "yaml",
    }
    assert not loaded & expensive
