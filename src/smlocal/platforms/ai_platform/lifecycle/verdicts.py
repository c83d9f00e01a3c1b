"""How an attempt ends after an error, with the service's message."""

from smlocal.platforms.ai_platform.lifecycle import messages
from smlocal.platforms.ai_platform.lifecycle.error_classes import ErrorClass, error_class
from smlocal.platforms.ai_platform.lifecycle.events import (
    CancelCause,
    InternalError,
    ReplicaExited,
    ReplicaLost,
    StartRefused,
)
from smlocal.platforms.ai_platform.lifecycle.progress import End, Verdict
from smlocal.platforms.ai_platform.lifecycle.rules import Rules

NO_PROGRAM = 127
"""The exit code of a container whose program could not be started."""
GONE = 137
"""The exit code of a container of which nothing is left."""


def of_replica(event: ReplicaExited | ReplicaLost | StartRefused) -> Verdict:
    """A replica ended, and not with exit code 0."""
    name = event.replica
    why: str | None = None
    match event:
        case ReplicaLost(why=why):
            error, code, reason = ErrorClass.REPLICA_FAILURE, GONE, messages.UNKNOWN
        case StartRefused(why=why):
            error, code, reason = ErrorClass.USER_EXCEPTION, NO_PROGRAM, messages.CANNOT_RUN
        case ReplicaExited(exit_code=code):
            error = error_class(code, oom_killed=event.oom_killed)
            reason = messages.ERROR
    if error is ErrorClass.OUT_OF_MEMORY:
        message = messages.out_of_memory(name, code)
    else:
        message = messages.user_exception(name, code, reason)
    return Verdict(end=End.FAILED, error=error, message=message, replica=name, exit_code=code, why=why)


def of_stock_out(rules: Rules) -> Verdict:
    """There are no machines for the job."""
    message = messages.stock_out(rules.region, rules.stock_out_advice)
    return Verdict(end=End.FAILED, error=ErrorClass.STOCK_OUT, message=message)


def of_internal_error(event: InternalError) -> Verdict:
    """The service has failed."""
    return Verdict(end=End.FAILED, error=ErrorClass.INTERNAL, message=messages.INTERNAL, why=event.why)


def of_cancellation(cause: CancelCause, rules: Rules) -> Verdict:
    """The job was cancelled."""
    match cause:
        case CancelCause.REQUEST:
            message = messages.CANCELLED
        case CancelCause.RAN_TOO_LONG:
            message = messages.ran_too_long(rules.max_running or 0.0)
        case CancelCause.WAITED_TOO_LONG:
            message = messages.waited_too_long(rules.max_wait or 0.0)
    return Verdict(end=End.CANCELLED, message=message)
