"""The end of a submitted job that was never prepared: it has no plan, no containers and no artifacts."""

import time
from collections.abc import Sequence
from typing import Any

from smlocal.errors import (
    AwsConfigurationError,
    ClockWrongError,
    CredentialsMissingError,
    GpuUnavailableError,
    ImageArchitectureError,
    ImageMissingError,
    InstancesUnavailableError,
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
from smlocal.errors.of_jobs import EnginesGoneError, EnginesTooSmallError
from smlocal.jobs.documents import LOCAL, ended_block
from smlocal.jobs.finish.describe import write_copies
from smlocal.jobs.kinds import running
from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import (
    CANNOT_PULL,
    FAILED,
    INTERNAL_ERROR,
    NO_CAPACITY,
    STOPPED,
    Ending,
    Failure,
    StopCause,
    input_failure,
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
"""Errors of the data. Nearly all of those about AWS occur while objects are listed."""
_NO_INSTANCES = (
    InstancesUnavailableError,
    GpuUnavailableError,
    NeuronUnavailableError,
    TooManyHostsError,
    EnginesGoneError,
    EnginesTooSmallError,
)


def fail_unprepared(store: Store, name: str, error: SmlocalError) -> None:
    """End it as `Failed`, because it cannot be prepared. The remedy becomes its hints."""
    fail_with(
        store,
        name,
        preparation_failure(error),
        explanation=error.with_details,
        hints=error.remedy,
    )


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


def fail_with(store: Store, name: str, failure: Failure, *, explanation: str, hints: Sequence[str] = ()) -> None:
    """End it as `Failed`."""
    block = ended_block(explanation=explanation, hints=hints)
    _end(store, name, FAILED, block, running(store.get(name).platform).reason(failure))


def stop_unprepared(store: Store, name: str) -> None:
    """End it as `Stopped`."""
    _end(store, name, STOPPED[StopCause.REQUEST], ended_block(), None)


def _end(store: Store, name: str, end: Ending, block: dict[str, Any], reason: str | None) -> None:
    store.put_document(name, LOCAL, block)
    store.transition(
        name,
        status=end.status,
        phase=end.phase,
        message=end.message,
        at=time.time(),
        failure_reason=reason,
    )
    write_copies(store, name)
