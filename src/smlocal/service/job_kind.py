"""The kinds of jobs that are made on the service: the names of their members, operations and logs."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from smlocal.sagemaker.kinds import PROCESSING
from smlocal.terms.validation.violation import Path

_SHARED = ("InstanceType", "InstanceCount", "VolumeSizeInGB", "VolumeKmsKeyId")


class JobKind(StrEnum):
    """The word in the names of the service, which is that of the phase with the program too."""

    TRAINING = "Training"
    PROCESSING = "Processing"

    @property
    def words(self) -> str:
        """`training job`, for sentences."""
        return f"{self.lower()} job"

    @property
    def name_member(self) -> str:
        """The member with the name."""
        return f"{self}JobName"

    @property
    def status_member(self) -> str:
        """The member with the status."""
        return f"{self}JobStatus"

    @property
    def arn_member(self) -> str:
        """The member with the ARN."""
        return f"{self}JobArn"

    @property
    def log_group(self) -> str:
        """The group of CloudWatch with a stream for each host of each job."""
        return f"/aws/sagemaker/{self}Jobs"

    @property
    def image(self) -> Path:
        """The member with the image."""
        if self is JobKind.TRAINING:
            return "AlgorithmSpecification", "TrainingImage"
        return "AppSpecification", "ImageUri"

    def operation(self, verb: str) -> str:
        """The name of an operation, such as `DescribeTrainingJob`."""
        return f"{verb}{self}Job"

    def cli(self, verb: str, job: str) -> str:
        """The command of the AWS CLI about a job."""
        return f"aws sagemaker {verb}-{self.lower()}-job --{self.lower()}-job-name {job}"

    def wait(self, job: str) -> str:
        """The command of the AWS CLI that waits for the end of a job."""
        return f"aws sagemaker wait {self.lower()}-job-completed-or-stopped --{self.lower()}-job-name {job}"

    def image_of(self, request: Mapping[str, Any]) -> str | None:
        """The image of a request, which has not been validated."""
        part, member = self.image
        inner = request.get(str(part))
        image = inner.get(member) if isinstance(inner, Mapping) else None
        return image if isinstance(image, str) else None


def kind_of(document: Mapping[str, Any]) -> JobKind:
    """The kind of job that a request or an answer is about."""
    return JobKind.PROCESSING if PROCESSING.describes(document) else JobKind.TRAINING


def transitions(answer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The status history of a job; for a processing job, whose answer has only times, its phases by these."""
    if kind_of(answer) is JobKind.TRAINING:
        return answer.get("SecondaryStatusTransitions") or ()
    times = [answer.get(each) for each in ("CreationTime", "ProcessingStartTime", "ProcessingEndTime")]
    named = zip(("Starting", JobKind.PROCESSING), times, times[1:], strict=False)
    return [
        {"Status": name, "StartTime": began, **({} if ended is None else {"EndTime": ended})}
        for name, began, ended in named
        if began is not None
    ]


def as_training(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The members of a training job's request that say the same about data, image and machine."""
    if kind_of(request) is JobKind.TRAINING:
        return request
    inputs = [each for each in request.get("ProcessingInputs") or () if isinstance(each, Mapping)]
    cluster = (request.get("ProcessingResources") or {}).get("ClusterConfig") or {}
    output, network = request.get("ProcessingOutputConfig") or {}, request.get("NetworkConfig") or {}
    found: dict[str, Any] = {
        "AlgorithmSpecification": {"TrainingImage": JobKind.PROCESSING.image_of(request)},
        "InputDataConfig": [
            {"ChannelName": each.get("InputName"), "DataSource": {"S3DataSource": each.get("S3Input") or {}}}
            for each in inputs
        ],
        "OutputDataConfig": {"KmsKeyId": output.get("KmsKeyId")},
        "ResourceConfig": {each: cluster.get(each) for each in _SHARED if cluster.get(each) is not None},
        "VpcConfig": network.get("VpcConfig"),
    }
    return {name: value for name, value in found.items() if value}
