"""Whether another attempt follows. Pure."""

from enum import StrEnum

from smlocal.contract.failures import INTERNAL_ERROR
from smlocal.job.decide.attempt_outcome import AttemptOutcome
from smlocal.quick_dataclass import dataclass


class Restart(StrEnum):
    """Why a job starts again."""

    INTERRUPTION = "interruption"
    RETRY = "retry"


@dataclass(kw_only=True, slots=True)
class RestartPolicy:
    """A spot interruption always restarts a job; an internal error does while retries remain."""

    retries: int
    """The further attempts after internal errors."""
    used: int = 0
    interruptions: int = 0

    @property
    def attempts(self) -> int:
        """How many there have been, with the one that runs."""
        return 1 + self.used + self.interruptions

    def after(self, outcome: AttemptOutcome) -> Restart | None:
        """What follows an attempt; None: the job is over."""
        if outcome.stopped is not None:
            return None
        if outcome.failure == INTERNAL_ERROR:
            if self.used >= self.retries:
                return None
            self.used += 1
            return Restart.RETRY
        if outcome.interrupted and not outcome.decided:
            self.interruptions += 1
            return Restart.INTERRUPTION
        return None
