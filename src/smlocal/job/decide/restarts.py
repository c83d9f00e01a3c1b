"""Whether a job that has lost its containers gets new ones: a pure state machine over how attempts end."""

from enum import StrEnum

from smlocal.contract.outcome import failure_reason
from smlocal.job.decide.attempt_outcome import Story
from smlocal.quick_dataclass import dataclass


class Restart(StrEnum):
    """Why a job starts again."""

    INTERRUPTION = "interruption"
    RETRY = "retry"


@dataclass(kw_only=True, slots=True)
class RestartPolicy:
    """A spot interruption always restarts; only an internal error of the platform uses up a retry."""

    retries: int
    """RetryStrategy.MaximumRetryAttempts."""
    used: int = 0
    interruptions: int = 0

    def after(self, story: Story) -> Restart | None:
        """What follows an attempt that ended so; None when the job is over."""
        if story.stopped is not None:
            return None
        if story.failure_reason == failure_reason.INTERNAL_ERROR:
            if self.used >= self.retries:
                return None
            self.used += 1
            return Restart.RETRY
        if story.interrupted and not story.decided:
            self.interruptions += 1
            return Restart.INTERRUPTION
        return None
