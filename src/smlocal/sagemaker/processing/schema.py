"""The JSON Schema of a file with a processing job."""

from typing import Any

from smlocal.jobfile.local_schema import local_schema_of
from smlocal.jobfile.option import Taker
from smlocal.jobfile.settings import LocalSettings, refused_settings
from smlocal.jobs.contract.model.structure import members
from smlocal.sagemaker.contract.model.processing import CreateProcessingJobRequest
from smlocal.sagemaker.jobfile.schema import file_schema
from smlocal.sagemaker.processing.job_file import WITHOUT_USE
from smlocal.sagemaker.processing.members import TABLE


def processing_file_schema() -> dict[str, Any]:
    """The request as smlocal takes it, and `Local`."""
    unused = {*WITHOUT_USE, *refused_settings(Taker.TRAINING)}
    return file_schema(
        CreateProcessingJobRequest,
        TABLE,
        local=local_schema_of([name for name in members(LocalSettings) if name not in unused]),
        title="smlocal processing job file",
        description="A CreateProcessingJob request, with settings for this machine under Local.",
    )
