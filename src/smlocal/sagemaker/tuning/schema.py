"""The JSON Schema of a file with a tuning job."""

from typing import Any

from smlocal.jobfile.local_schema import local_schema_of
from smlocal.jobfile.option import Taker
from smlocal.jobfile.settings import LocalSettings, refused_settings
from smlocal.jobs.contract.model.structure import members
from smlocal.sagemaker.contract.model.tuning import CreateHyperParameterTuningJobRequest
from smlocal.sagemaker.jobfile.schema import file_schema
from smlocal.sagemaker.tuning.members import TABLE


def tuning_file_schema() -> dict[str, Any]:
    """The request as smlocal takes it, and `Local`, which is that of its training jobs."""
    unused = set(refused_settings(Taker.TRAINING))
    return file_schema(
        CreateHyperParameterTuningJobRequest,
        TABLE,
        local=local_schema_of([name for name in members(LocalSettings) if name not in unused]),
        title="smlocal tuning job file",
        description="A CreateHyperParameterTuningJob request, with settings for this machine under Local.",
    )
