"""Why a submitted job that cannot be prepared fails. Pure.

`smlocal run` makes no job then. A submitted job is recorded already, so it ends as one fails on the service.
"""

from smlocal.contract.failures import CANNOT_PULL, INTERNAL_ERROR, NO_CAPACITY, Failure, input_failure
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


def preparation_failure(error: SmlocalError) -> Failure:
    """In the platform's words where it has some, with smlocal's own sentence where it has none."""
    if isinstance(error, ImageMissingError | RegistryUnreachableError):
        return CANNOT_PULL
    if isinstance(error, _DATA):
        return input_failure(f"Data download failed:{error.sentence}")
    if isinstance(error, RequestInvalidError) and error.service_message:
        return input_failure(error.service_message)
    if isinstance(error, RequestRefusedError | ImageArchitectureError):
        return input_failure(error.sentence)
    if isinstance(error, _NO_INSTANCES):
        return NO_CAPACITY
    return INTERNAL_ERROR
