"""What kind of error an exit code is, and how often the job is tried again after it."""

from enum import StrEnum

ABORTED, SEGMENTATION_FAULT = 6, 11
"""Signal numbers, and the exit codes that stand for them outside of custom containers."""
_OF_SIGNALS = range(129, 193)
"""128 and the number of the signal that ended PID 1."""


class ErrorClass(StrEnum):
    """The kinds of errors that the service tells apart."""

    USER_EXCEPTION = "user-exception"
    TRANSIENT = "transient"
    """A user exception with an exit code that may be gone at the next attempt."""
    OUT_OF_MEMORY = "out-of-memory"
    REPLICA_FAILURE = "replica-failure"
    """Not permanent: the replica is restarted, and the job fails only after too many of them."""
    STOCK_OUT = "stock-out"
    INTERNAL = "internal"


MOST_RETRIES: dict[ErrorClass, int] = {
    ErrorClass.USER_EXCEPTION: 0,
    ErrorClass.TRANSIENT: 3,
    ErrorClass.OUT_OF_MEMORY: 0,
    ErrorClass.REPLICA_FAILURE: 3,
    ErrorClass.STOCK_OUT: 3,
    ErrorClass.INTERNAL: 2,
}
"""After an error of this class the job is tried again if it has had fewer retries than this, for whatever reason."""
MOST_REPLICA_RESTARTS = 5
"""Of each replica in each attempt of the job."""


def error_class(exit_code: int, *, oom_killed: bool, custom_container: bool) -> ErrorClass:
    """The class of an exit code that is not 0. Only the engine knows who ran out of memory: 137 alone says nothing."""
    if oom_killed:
        return ErrorClass.OUT_OF_MEMORY
    transient = {ABORTED, SEGMENTATION_FAULT}
    if custom_container:
        transient |= {128 + code for code in transient}
    if exit_code in transient:
        return ErrorClass.TRANSIENT
    return ErrorClass.REPLICA_FAILURE if exit_code in _OF_SIGNALS else ErrorClass.USER_EXCEPTION
