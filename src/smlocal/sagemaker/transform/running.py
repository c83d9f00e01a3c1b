"""What is decided about a transform job that runs, and how it ends."""

from typing import ClassVar, Final

from smlocal.jobs.decide.attempt_outcome import AttemptOutcome
from smlocal.jobs.kinds import Reasons, Running
from smlocal.sagemaker.contract.outcome import reasons
from smlocal.sagemaker.transform import facts
from smlocal.terms.statuses import FAILED, Ending, FailureKind


class TransformRunning(Running):
    """No hints and no command, as for an endpoint."""

    REASONS: ClassVar[Reasons] = {
        FailureKind.INTERNAL: reasons.INTERNAL_ERROR,
        FailureKind.INPUT: str,
        FailureKind.IMAGE: reasons.CANNOT_PULL,
        FailureKind.START: facts.NO_PING,
        FailureKind.CAPACITY: reasons.NO_CAPACITY,
    }

    def ending(self, outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:
        """How a job ends. What became of its objects is a failure by then."""
        if outcome.failure is None and outcome.stopped is None and outcome.first_failure is not None:
            return FAILED, facts.SEE_LOGS
        return super().ending(outcome, failure_file)


RUNNING: Final = TransformRunning()
