"""What is decided about a tuning job that runs. Rules, hints, usage and commands are those of its training jobs."""

from typing import ClassVar, Final

from smlocal.jobs.kinds import Reasons, Running
from smlocal.sagemaker.contract.outcome import failure_reason
from smlocal.terms.failures import FailureKind


class TuningRunning(Running):
    """No more than the reasons."""

    REASONS: ClassVar[Reasons] = {
        FailureKind.INTERNAL: failure_reason.INTERNAL_ERROR,
        FailureKind.INPUT: str,
        FailureKind.IMAGE: failure_reason.INTERNAL_ERROR,
        FailureKind.START: failure_reason.INTERNAL_ERROR,
        FailureKind.CAPACITY: failure_reason.NO_CAPACITY,
    }


RUNNING: Final = TuningRunning()
