"""The kinds of jobs that are made on the service: the names of their members, operations and logs."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from smlocal.jobs.contract.validation.violation import Path
from smlocal.sagemaker.processing.facts import is_processing


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

    def image_of(self, request: Mapping[str, Any]) -> str | None:
        """The image of a request, which has not been validated."""
        part, member = self.image
        inner = request.get(str(part))
        image = inner.get(member) if isinstance(inner, Mapping) else None
        return image if isinstance(image, str) else None


def kind_of(document: Mapping[str, Any]) -> JobKind:
    """The kind of job that a request or an answer is about."""
    return JobKind.PROCESSING if is_processing(document) else JobKind.TRAINING
