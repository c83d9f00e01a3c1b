"""The states of a job, and which may follow which."""

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
