"""The request in an answer of DescribeProcessingJob, and its job file."""

from typing import Any

import pytest
import yaml

from smlocal.errors import PathInDescriptionError, UsageRefusedError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.kinds import PROCESSING
from smlocal.sagemaker.processing.job_file import read_processing
from smlocal.service.described_request import described, fetch, is_answer, use_request

ARN = "arn:aws:sagemaker:eu-west-1:123456789012:processing-job/split"


def answer(**more: Any) -> dict[str, Any]:
    return {
        "ProcessingJobArn": ARN,
        "ProcessingJobName": "split",
        "ProcessingJobStatus": "Completed",
        "ExitMessage": "done",
        "AppSpecification": {"ImageUri": "image"},
        "ProcessingInputs": [
            {"InputName": "data", "S3Input": {"S3Uri": "s3://bucket/data", "LocalPath": "/opt/ml/processing/in"}}
        ],
        "RoleArn": "arn:aws:iam::123456789012:role/Role",
        "TrainingJobArn": "arn:aws:sagemaker:eu-west-1:123456789012:training-job/watched",
        "ResponseMetadata": {},
        **more,
    }


def test_the_request_has_no_members_of_the_answer() -> None:
    job = described(PROCESSING, answer())
    assert is_answer(PROCESSING, answer())
    assert [*job.request] == ["ProcessingInputs", "ProcessingJobName", "AppSpecification", "RoleArn"]
    assert (job.name, job.region, job.state) == ("split", "eu-west-1", "Completed, eu-west-1")
    assert not job.newer


def test_members_of_a_newer_service_are_comments() -> None:
    job = described(PROCESSING, answer(Later=1, AppSpecification={"ImageUri": "image", "Later": "b"}))
    assert job.newer == {"Later": 1, "AppSpecification.Later": "b"}
    assert job.request["AppSpecification"] == {"ImageUri": "image"}
    assert "#   AppSpecification.Later: b" in job.file_text(file="job.yaml")


def test_what_only_our_own_answer_has_is_in_the_request() -> None:
    job = described(PROCESSING, answer(Local={"Request": {"Tags": [{"Key": "a", "Value": "b"}]}, "Version": 1}))
    assert job.request["Tags"] == [{"Key": "a", "Value": "b"}]
    assert job.local == {}


def test_the_file_is_a_valid_job_file() -> None:
    text = described(PROCESSING, answer()).file_text(file="job.yaml")
    data = yaml.safe_load(text)
    assert data["Local"] == {"Region": "eu-west-1"}
    assert "ProcessingJobName" not in data
    job = read_processing(Document(data, name="job.yaml", directory="/"), strict=False)
    assert [each.path for each in job.inputs] == ["/opt/ml/processing/in"]


def test_a_request_keeps_its_own_settings() -> None:
    job = described(PROCESSING, {"AppSpecification": {"ImageUri": "image"}, "Local": {"Output": "out"}, "Typo": 1})
    assert job.answer is None
    assert job.state == ""
    assert yaml.safe_load(job.file_text(file="-"))["Local"] == {"Output": "out"}
    assert job.newer == {"Typo": 1}


def test_an_answer_may_not_name_paths_of_this_machine() -> None:
    given = answer(
        ProcessingInputs=[{"InputName": "a", "S3Input": {"S3Uri": "/etc", "LocalPath": "/opt/ml/processing/a"}}]
    )
    with pytest.raises(PathInDescriptionError, match=r"d\.json is the description of a job"):
        described(PROCESSING, given).check_local_paths(name="d.json", allow_local_paths=True)
    document = Document(given, name="d.json", directory="/")
    use_request(PROCESSING, document, allow_local_paths=True)
    with pytest.raises(PathInDescriptionError):
        read_processing(document, strict=False)


def test_the_request_of_an_answer_runs_under_a_new_name() -> None:
    document = Document(answer(), name="d.json", directory="/")
    use_request(PROCESSING, document, allow_local_paths=False)
    assert document.data["ProcessingJobName"].startswith("split-2")
    assert document.data["Local"] == {"Region": "eu-west-1"}
    assert read_processing(document, strict=False).image == "image"


def test_another_arn_is_refused() -> None:
    with pytest.raises(UsageRefusedError, match="is not the ARN of a processing job"):
        fetch(PROCESSING, "arn:aws:sagemaker:processing-job/x", profile=None, region=None)
