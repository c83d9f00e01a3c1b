"""Processing jobs of the service, as `described_request` reads them."""

from typing import Final

from smlocal.sagemaker.contract.identity import default_name
from smlocal.sagemaker.contract.model.processing import CreateProcessingJobRequest
from smlocal.service.described_request import DescribedKind

PROCESSING: Final = DescribedKind(
    words="processing job",
    prefix="ProcessingJob",
    resource="processing-job",
    shape=CreateProcessingJobRequest,
    sign="AppSpecification",
    answer_only=frozenset(
        {
            "ProcessingJobStatus",
            "ExitMessage",
            "FailureReason",
            "ProcessingStartTime",
            "ProcessingEndTime",
            "CreationTime",
            "LastModifiedTime",
            "MonitoringScheduleArn",
            "AutoMLJobArn",
            "TrainingJobArn",
            "ResponseMetadata",
        }
    ),
    new_name=default_name,
)
