"""What is decided about a transform job that runs, and how it ends."""

from typing import ClassVar, Final

from smlocal.jobs.decide.attempt_outcome import AttemptOutcome
from smlocal.jobs.kinds import Reasons, Running
from smlocal.sagemaker.contract.outcome import failure_reason
from smlocal.sagemaker.transform import facts
from smlocal.terms.failures import FailureKind
from smlocal.terms.statuses import FAILED, Ending


class TransformRunning(Running):
    """No hints and no command, as for an endpoint."""

    REASONS: ClassVar[Reasons] = {
        FailureKind.INTERNAL: failure_reason.INTERNAL_ERROR,
        FailureKind.INPUT: str,
        FailureKind.IMAGE: failure_reason.CANNOT_PULL,
        FailureKind.START: facts.NO_PING,
        FailureKind.CAPACITY: failure_reason.NO_CAPACITY,
    }

    def ending(self, outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:
        """How a job ends. What became of its objects is a failure by then."""
        if outcome.failure is None and outcome.stopped is None and outcome.first_failure is not None:
            return FAILED, facts.SEE_LOGS
        return super().ending(outcome, failure_file)


RUNNING: Final = TransformRunning()
