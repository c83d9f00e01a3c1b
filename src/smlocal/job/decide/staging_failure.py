"""Why a job fails whose data or containers could not be prepared. Pure."""

import errno

from smlocal.contract.failures import INTERNAL_ERROR, Failure, input_failure
from smlocal.errors import HomeUnusableError, MachineNotReadyError, StagingError, StreamNotStartedError
from smlocal.job.container_events import unexpected_error

_DISK_FULL = input_failure("Data download failed:Insufficient disk space")


def staging_failure(error: Exception) -> tuple[Failure, str | None]:  # noqa: PLR0911 - one for each kind of error
    """The failure, and what really happened if that says more. Errors of the engine are judged elsewhere."""
    match error:
        case StreamNotStartedError():
            return INTERNAL_ERROR, "; ".join(error.details)
        case StagingError():
            return input_failure(error.sentence), "; ".join(error.details) or None
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return _DISK_FULL, str(error)
        case OSError():
            return input_failure(f"Data download failed:{error.strerror or error}: {error.filename}"), str(error)
        case HomeUnusableError():
            return _DISK_FULL, error.with_details
        case MachineNotReadyError():
            return INTERNAL_ERROR, error.with_details
        case _:
            return INTERNAL_ERROR, unexpected_error(error)
