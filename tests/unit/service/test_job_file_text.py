from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.jobfile.job_file import read_job
from smlocal.service.described_job import described_job
from smlocal.service.job_file_text import job_file_text


def text_of(answer: dict[str, Any], **more: Any) -> str:
    return job_file_text(described_job(answer, name="answer.json"), file="job.yaml", **more)


def read(text: str) -> dict[str, Any]:
    document = load_document(text, name="job.yaml", directory=".")
    read_job(document, strict=False)
    return document.data


def test_it_is_a_job_file_with_the_request_and_the_region(answer: dict[str, Any]) -> None:
    request = described_job(answer, name="answer.json").request
    del request["TrainingJobName"]
    assert read(text_of(answer)) == {**request, "Local": {"Region": "eu-west-1"}}


def test_what_is_proposed_is_valid_too(answer: dict[str, Any]) -> None:
    answer["HyperParameters"]["sagemaker_submit_directory"] = '"s3://bucket/code/sourcedir.tar.gz"'
    answer["ResourceConfig"] = {"InstanceType": "ml.p3.2xlarge", "InstanceCount": 40, "VolumeSizeInGB": 1}
    answer["InputDataConfig"].append(
        {
            "ChannelName": "efs",
            "DataSource": {
                "FileSystemDataSource": {
                    "FileSystemId": "fs-01234567",
                    "FileSystemAccessMode": "ro",
                    "FileSystemType": "EFS",
                    "DirectoryPath": "/data",
                }
            },
        }
    )
    text = text_of(answer)
    whole = text.replace("  # ", "  ")
    assert read(whole)["Local"] == {
        "Region": "eu-west-1",
        "Sources": {"s3://bucket/data": "./data/train", "fs-01234567": "./data/efs"},
        "Pull": "never",
        "Credentials": "inherit",
        "AllowCpu": True,
        "MaxHosts": 40,
    }
    assert "# TrainingJobName: held-tree" in text


def test_the_end_of_the_job_and_what_is_left_out_are_told(answer: dict[str, Any]) -> None:
    answer["NewestConfig"] = {"Level": 2}
    text = text_of(answer, notes=["Tags are not known."])
    assert "# As the training job held-tree in eu-west-1: Failed, AlgorithmError: exit 1." in text
    assert "# Left out, because it is empty: OutputDataConfig.KmsKeyId." in text
    assert "ProfilingStatus" in text
    assert "# Tags are not known." in text
    assert "#   NewestConfig:\n#     Level: 2" in text
    assert "NewestConfig" not in read(text)


def test_a_job_that_had_not_ended(answer: dict[str, Any]) -> None:
    del answer["FailureReason"]
    assert "InProgress when it was described." in text_of({**answer, "TrainingJobStatus": "InProgress"})


def test_the_folder_of_an_sdks_code_is_used(answer: dict[str, Any]) -> None:
    answer["HyperParameters"]["sagemaker_submit_directory"] = '"s3://bucket/job/source/sourcedir.tar.gz"'
    request = described_job(answer, name="answer.json").request
    request["S3Operations"] = {"S3Upload": [{"Path": "src", "Bucket": "bucket", "Key": "k", "Tar": True}]}
    text = text_of(request)
    assert read(text)["Local"] == {"Code": "src"}
    assert "the training toolkit fetches" not in text


@given(
    reason=st.text(max_size=400),
    value=st.text(max_size=20).filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text)),
)
def test_whatever_the_service_says_it_stays_a_comment(reason: str, value: str) -> None:
    answer = {
        "TrainingJobName": "held",
        "TrainingJobArn": "arn:aws:sagemaker:eu-west-1:123456789012:training-job/held",
        "TrainingJobStatus": "Failed",
        "FailureReason": reason,
        "HyperParameters": {"text": value},
        "AlgorithmSpecification": {"TrainingImage": "held:1", "TrainingInputMode": "File"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "Newest": reason.encode("utf-8", "replace").decode(),
    }
    found = yaml.safe_load(text_of(answer, notes=[reason]))
    assert found.keys() == {"HyperParameters", "AlgorithmSpecification", "ResourceConfig", "OutputDataConfig", "Local"}
    assert found["HyperParameters"] == {"text": value}


@pytest.mark.parametrize("part", ["HyperParameters", "InputDataConfig", "ResourceConfig", "AlgorithmSpecification"])
@pytest.mark.parametrize("wrong", ["text", 3, [1], {"a": [None]}, [[{}]]], ids=repr)
def test_a_damaged_answer_is_written_as_it_is(part: str, wrong: Any, answer: dict[str, Any]) -> None:
    assert text_of({**answer, part: wrong})
