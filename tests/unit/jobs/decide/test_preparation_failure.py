"""The FailureReason of what would prevent a job in `smlocal run`."""

import pytest

from smlocal.errors import (
    CredentialsMissingError,
    EngineUnreachableError,
    GpuUnavailableError,
    ImageArchitectureError,
    ImageMissingError,
    InstancesUnavailableError,
    RegistryUnreachableError,
    RequestInvalidError,
    SmlocalError,
    SourceMissingError,
)
from smlocal.jobs.finish.unprepared import preparation_failure
from smlocal.sagemaker.contract.outcome import reasons
from smlocal.sagemaker.training.running import RUNNING


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (SourceMissingError("./data does not exist"), "ClientError: Data download failed:./data does not exist"),
        (CredentialsMissingError("no keys"), "ClientError: Data download failed:no keys"),
        (ImageMissingError("not here"), reasons.CANNOT_PULL),
        (RegistryUnreachableError("no answer"), reasons.CANNOT_PULL),
        (ImageArchitectureError("built for arm64"), "ClientError: built for arm64"),
        (RequestInvalidError("1 problem", service_message="No S3 objects"), "ClientError: No S3 objects"),
        (RequestInvalidError("1 problem"), "ClientError: 1 problem"),
        (GpuUnavailableError("no GPUs"), reasons.NO_CAPACITY),
        (InstancesUnavailableError("none"), reasons.NO_CAPACITY),
        (EngineUnreachableError("no engine"), reasons.INTERNAL_ERROR),
        (SmlocalError("x" * 2000), reasons.INTERNAL_ERROR),
        (SourceMissingError("x" * 2000), ("ClientError: Data download failed:" + "x" * 2000)[:1024]),
    ],
)
def test_in_the_words_of_the_service(error: SmlocalError, reason: str) -> None:
    assert RUNNING.reason(preparation_failure(error)) == reason
