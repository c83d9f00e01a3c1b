import copy
from typing import Any

import pytest

from smlocal.errors import NotATrainingJobError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.jobfile.job_file import read_job
from smlocal.service.described_job import described_job

SKELETON: dict[str, Any] = {
    "TrainingJobName": "",
    "HyperParameters": {"KeyName": ""},
    "AlgorithmSpecification": {
        "TrainingImage": "",
        "AlgorithmName": "",
        "TrainingInputMode": "Pipe",
        "MetricDefinitions": [{"Name": "", "Regex": ""}],
        "ContainerArguments": [""],
        "TrainingImageConfig": {"TrainingRepositoryAccessMode": "Platform"},
    },
    "RoleArn": "",
    "InputDataConfig": [
        {
            "ChannelName": "",
            "DataSource": {"S3DataSource": {"S3DataType": "ManifestFile", "S3Uri": ""}},
            "InputMode": "Pipe",
            "ShuffleConfig": {"Seed": 0},
        }
    ],
    "OutputDataConfig": {"KmsKeyId": "", "S3OutputPath": "", "CompressionType": "GZIP"},
    "ResourceConfig": {"InstanceType": "ml.m4.xlarge", "InstanceCount": 0, "VolumeSizeInGB": 0},
    "VpcConfig": {"SecurityGroupIds": [""], "Subnets": [""]},
    "StoppingCondition": {"MaxRuntimeInSeconds": 0},
    "EnableNetworkIsolation": True,
    "RetryStrategy": {"MaximumRetryAttempts": 0},
}
"""The shape of what the AWS CLI prints; tests with the CLI itself are in tests/doors/remote."""


def test_the_request_has_what_was_asked_for_and_nothing_that_the_answer_adds(answer: dict[str, Any]) -> None:
    job = described_job(answer, name="job.json")
    assert list(job.request) == [
        "TrainingJobName",
        "HyperParameters",
        "AlgorithmSpecification",
        "RoleArn",
        "InputDataConfig",
        "OutputDataConfig",
        "ResourceConfig",
        "StoppingCondition",
        "EnableNetworkIsolation",
    ]
    assert job.request["HyperParameters"] == {"epochs": "3", "note": ""}
    assert job.request["OutputDataConfig"] == {"S3OutputPath": "s3://bucket/out", "CompressionType": "GZIP"}
    assert job.request["AlgorithmSpecification"] == answer["AlgorithmSpecification"]
    assert job.empty == ("OutputDataConfig.KmsKeyId",)
    assert {"TrainingJobArn", "FailureReason", "ProfilingStatus", "ResponseMetadata"} <= {*job.dropped}
    assert (job.name, job.region, job.status, job.is_running) == ("held-tree", "eu-west-1", "Failed", False)
    assert not job.newer
    assert not job.skeleton


def test_a_count_of_0_beside_instance_groups_is_no_part_of_the_request(answer: dict[str, Any]) -> None:
    groups = [{"InstanceType": "ml.m5.large", "InstanceCount": 1, "InstanceGroupName": name} for name in ("a", "b")]
    answer["ResourceConfig"] = {"InstanceCount": 0, "VolumeSizeInGB": 30, "InstanceGroups": groups}
    job = described_job(answer, name="answer.json")
    assert job.request["ResourceConfig"] == {"VolumeSizeInGB": 30, "InstanceGroups": groups}
    assert "ResourceConfig.InstanceCount" in job.empty
    assert answer["ResourceConfig"]["InstanceCount"] == 0
    assert read_job(Document(job.request, name="job.yaml", directory="/"), strict=False).raw["ResourceConfig"]


def test_the_answer_is_not_changed(answer: dict[str, Any]) -> None:
    before = copy.deepcopy(answer)
    job = described_job(answer, name="job.json")
    job.request["HyperParameters"]["epochs"] = "4"
    job.request["InputDataConfig"][0]["ChannelName"] = "other"
    assert answer == before


def test_a_job_that_is_still_running(answer: dict[str, Any]) -> None:
    assert described_job({**answer, "TrainingJobStatus": "Stopping"}, name="job.json").is_running


def test_newer_members_are_kept_beside_the_request(answer: dict[str, Any]) -> None:
    answer["NewestConfig"] = {"Level": 2}
    answer["InputDataConfig"][0]["DataSource"]["S3DataSource"]["Newest"] = "x"
    job = described_job(answer, name="job.json")
    assert dict(job.newer) == {
        "NewestConfig": {"Level": 2},
        "InputDataConfig[0].DataSource.S3DataSource.Newest": "x",
    }
    assert "NewestConfig" not in job.request
    assert "Newest" not in job.request["InputDataConfig"][0]["DataSource"]["S3DataSource"]


def test_empty_lists_go_only_where_the_service_takes_none(answer: dict[str, Any]) -> None:
    answer["InputDataConfig"] = []
    answer["DebugHookConfig"] = {"S3OutputPath": "s3://bucket/debug", "CollectionConfigurations": []}
    answer["Tags"] = [{"Key": "owner", "Value": ""}]
    job = described_job(answer, name="job.json")
    assert "InputDataConfig" not in job.request
    assert job.request["DebugHookConfig"] == answer["DebugHookConfig"]
    assert job.request["Tags"] == [{"Key": "owner", "Value": ""}]


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda job: {"Results": [{"TrainingJob": job}], "NextToken": "x"},
        lambda job: {"Results": [job]},
        lambda job: {"TrainingJob": job},
        lambda job: {"detail-type": "SageMaker Training Job State Change", "region": "eu-west-1", "detail": job},
    ],
    ids=["search", "list", "one-result", "event"],
)
def test_other_ways_to_save_a_description(answer: dict[str, Any], wrapped: Any) -> None:
    assert described_job(wrapped(answer), name="job.json").request == described_job(answer, name="job.json").request


def test_one_of_several_jobs(answer: dict[str, Any]) -> None:
    other = {**answer, "TrainingJobName": "other", "HyperParameters": {"epochs": "9"}}
    saved = {"Results": [{"TrainingJob": answer}, {"TrainingJob": other}]}
    with pytest.raises(NotATrainingJobError, match=r"saved\.json has 2 training jobs") as refused:
        described_job(saved, name="saved.json")
    assert refused.value.remedy[1:] == ("held-tree", "other")
    assert described_job(saved, name="saved.json", job="other").request["HyperParameters"] == {"epochs": "9"}
    with pytest.raises(NotATrainingJobError, match="has no training job third"):
        described_job(saved, name="saved.json", job="third")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"ProcessingJobName": "a", "ProcessingJobArn": "arn"}, "is an answer of DescribeProcessingJob"),
        ({"HyperParameterTuningJobName": "a", "HyperParameterTuningJobArn": "arn"}, "HyperParameterTuningJob"),
        ({"ProcessingJobSummaries": []}, "is an answer of ListProcessingJobs"),
        ({"TrainingJobSummaries": [{"TrainingJobName": "a"}]}, "is an answer of ListTrainingJobs"),
        ({"TrainingJobArn": "arn:aws:sagemaker:eu-west-1:1:training-job/held"}, "is an answer of CreateTrainingJob"),
        ({"TrainingJobName": "a", "TrainingJobArn": "arn", "TrainingJobStatus": "Failed"}, "only a summary"),
        ({"Results": [{"Endpoint": {"EndpointName": "a"}}]}, "is an answer of Search without training jobs"),
        ({"Version": "2012-10-17", "Statement": []}, "is not the description of a training job"),
    ],
)
def test_answers_of_other_operations_are_named(document: dict[str, Any], said: str) -> None:
    with pytest.raises(NotATrainingJobError, match=said) as refused:
        described_job(document, name="saved.json")
    assert refused.value.remedy


def test_our_own_answer_has_members_that_the_service_does_not_return(answer: dict[str, Any]) -> None:
    answer["Local"] = {"Version": 1, "Request": {"Tags": [{"Key": "a", "Value": "b"}]}, "Seconds": {}}
    job = described_job(answer, name="job.json")
    assert job.request["Tags"] == [{"Key": "a", "Value": "b"}]
    assert job.local == {}


def test_a_request_keeps_its_local_block_and_loses_the_uploads_of_airflow(answer: dict[str, Any]) -> None:
    request = described_job(answer, name="job.json").request
    job = described_job({**request, "Local": {"AllowCpu": True}, "S3Operations": {"S3Upload": []}}, name="job.json")
    assert job.request == request
    assert job.local == {"AllowCpu": True}
    assert job.dropped == ("S3Operations",)
    assert job.answer is None
    assert (job.region, job.status) == ("", "")


def test_of_a_skeleton_only_what_somebody_wrote_is_left() -> None:
    filled = copy.deepcopy(SKELETON)
    filled["TrainingJobName"] = "held"
    filled["AlgorithmSpecification"]["TrainingImage"] = "held:1"
    filled["InputDataConfig"][0]["ChannelName"] = "train"
    filled["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"] = "s3://bucket/data"
    filled["OutputDataConfig"]["S3OutputPath"] = "s3://bucket/out"
    filled["ResourceConfig"]["InstanceCount"] = 1
    filled["HyperParameters"]["epochs"] = "3"
    filled["StoppingCondition"]["MaxRuntimeInSeconds"] = 60
    job = described_job(filled, name="job.json")
    assert job.skeleton
    assert job.request == {
        "TrainingJobName": "held",
        "HyperParameters": {"epochs": "3"},
        "AlgorithmSpecification": {"TrainingImage": "held:1", "TrainingInputMode": "Pipe"},
        "InputDataConfig": [
            {
                "ChannelName": "train",
                "DataSource": {"S3DataSource": {"S3DataType": "ManifestFile", "S3Uri": "s3://bucket/data"}},
                "InputMode": "Pipe",
            }
        ],
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out", "CompressionType": "GZIP"},
        "ResourceConfig": {"InstanceType": "ml.m4.xlarge", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        "EnableNetworkIsolation": True,
    }
    assert "InputDataConfig[0].ShuffleConfig" in job.empty
    assert "InputDataConfig[0].ShuffleConfig.Seed" not in job.empty
    assert {"RetryStrategy", "VpcConfig", "RoleArn"} <= {*job.empty}
    assert "EnableNetworkIsolation: true" in job.untouched
    assert "InputDataConfig[0].InputMode: Pipe" in job.untouched


def test_a_skeleton_that_nobody_has_filled_in() -> None:
    with pytest.raises(NotATrainingJobError, match="a skeleton that was not filled in"):
        described_job(SKELETON, name="job.json")


def test_a_request_with_one_empty_text_is_no_skeleton(answer: dict[str, Any]) -> None:
    request = described_job(answer, name="job.json").request
    request["OutputDataConfig"]["KmsKeyId"] = ""
    request["RetryStrategy"] = {"MaximumRetryAttempts": 1}
    request["DebugRuleConfigurations"] = []
    request["Environment"] = dict.fromkeys(("A", "B", "C"), "")
    job = described_job(request, name="job.json")
    assert not job.skeleton
    assert job.request["RetryStrategy"] == {"MaximumRetryAttempts": 1}
    assert job.untouched == ()
