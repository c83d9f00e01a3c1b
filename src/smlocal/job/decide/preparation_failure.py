"""The FailureReason of a submitted job that cannot be prepared. Pure.

`smlocal run` makes no job then. A submitted job is recorded already, so it ends as one fails on the service.
"""

from smlocal.contract.outcome import failure_reason
from smlocal.errors import (
    AwsConfigurationError,
    ClockWrongError,
    CredentialsMissingError,
    GpuUnavailableError,
    ImageArchitectureError,
    ImageMissingError,
    NeuronUnavailableError,
    RegistryUnreachableError,
    RequestInvalidError,
    RequestRefusedError,
    S3UnreachableError,
    SmlocalError,
    SourceEmptyError,
    SourceMissingError,
    SourceUnmappedError,
    SourceUnreadableError,
    TooManyHostsError,
)

_DATA = (
    SourceEmptyError,
    SourceMissingError,
    SourceUnmappedError,
    SourceUnreadableError,
    S3UnreachableError,
    CredentialsMissingError,
    AwsConfigurationError,
    ClockWrongError,
)
"""Of those about AWS, nearly all are met while objects are listed."""
_NO_INSTANCES = (GpuUnavailableError, NeuronUnavailableError, TooManyHostsError)


def preparation_failure(error: SmlocalError) -> str:
    """The service's prefix and words where it has some, with smlocal's own sentence where it has none."""
    if isinstance(error, ImageMissingError | RegistryUnreachableError):
        return failure_reason.CANNOT_PULL
    if isinstance(error, _DATA):
        return failure_reason.client_error(f"Data download failed:{error.sentence}")
    if isinstance(error, RequestInvalidError) and error.service_message:
        return failure_reason.client_error(error.service_message)
    if isinstance(error, RequestRefusedError | ImageArchitectureError):
        return failure_reason.client_error(error.sentence)
    if isinstance(error, _NO_INSTANCES):
        return failure_reason.NO_CAPACITY
    return failure_reason.INTERNAL_ERROR
