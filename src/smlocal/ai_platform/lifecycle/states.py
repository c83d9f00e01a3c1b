"""The states of a job, and the classes of its errors: how often it is retried, and the code it ends with."""

from enum import StrEnum


class JobState(StrEnum):
    """`Job.state` of AI Platform Training."""

    QUEUED = "QUEUED"
    PREPARING = "PREPARING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLING = "CANCELLING"
    CANCELLED = "CANCELLED"

    @property
    def of_custom_job(self) -> str:
        """`CustomJob.state`: the same states, and one of them has another name."""
        return f"JOB_STATE_{'PENDING' if self is JobState.PREPARING else self.value}"

    @property
    def terminal(self) -> bool:
        """True if no other state follows."""
        return not FOLLOWING[self]


FOLLOWING: dict[JobState, frozenset[JobState]] = {
    JobState.QUEUED: frozenset({JobState.PREPARING, JobState.CANCELLING}),
    JobState.PREPARING: frozenset({JobState.RUNNING, JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLING}),
    # A job that is tried again prepares again.
    JobState.RUNNING: frozenset({JobState.PREPARING, JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLING}),
    JobState.CANCELLING: frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED}),
    JobState.SUCCEEDED: frozenset(),
    JobState.FAILED: frozenset(),
    JobState.CANCELLED: frozenset(),
}
"""A job that succeeds before all of its replicas are available was never RUNNING."""


_TRANSIENT = {6, 11, 128 + 6, 128 + 11}
"""Those that stand for the signals SIGABRT and SIGSEGV, with a shell as PID 1 or without."""
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
"""After an error of this class the job is retried if it has had fewer retries than this, for whatever reason."""
MOST_REPLICA_RESTARTS = 5
"""The limit for each replica in each attempt of the job."""


def error_class(exit_code: int, *, oom_killed: bool) -> ErrorClass:
    """The class of an exit code that is not 0.

    Only the engine knows who ran out of memory: 137 says nothing by itself.
    """
    if oom_killed:
        return ErrorClass.OUT_OF_MEMORY
    if exit_code in _TRANSIENT:
        return ErrorClass.TRANSIENT
    return ErrorClass.REPLICA_FAILURE if exit_code in _OF_SIGNALS else ErrorClass.USER_EXCEPTION


CANCELLED = 1
_INVALID_ARGUMENT, _RESOURCE_EXHAUSTED, _INTERNAL = 3, 8, 13

ERROR_CODES: dict[ErrorClass, int] = {
    ErrorClass.USER_EXCEPTION: _INVALID_ARGUMENT,
    ErrorClass.TRANSIENT: _INVALID_ARGUMENT,
    ErrorClass.REPLICA_FAILURE: _INVALID_ARGUMENT,
    ErrorClass.OUT_OF_MEMORY: _INVALID_ARGUMENT,
    ErrorClass.STOCK_OUT: _RESOURCE_EXHAUSTED,
    ErrorClass.INTERNAL: _INTERNAL,
}
"""Seen for user exceptions; the others are inferred."""
