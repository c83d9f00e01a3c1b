"""How an execution ends that breaks off. What else happens to it is decided in `sagemaker/pipelines`."""

from typing import ClassVar, Final

from smlocal.jobs.kinds import Reasons, Running
from smlocal.sagemaker.contract.outcome import reasons
from smlocal.terms.statuses import FailureKind


class PipelineRunning(Running):
    """No more than the reasons."""

    REASONS: ClassVar[Reasons] = {
        FailureKind.INTERNAL: reasons.INTERNAL_ERROR,
        FailureKind.INPUT: str,
        FailureKind.IMAGE: reasons.INTERNAL_ERROR,
        FailureKind.START: reasons.INTERNAL_ERROR,
        FailureKind.CAPACITY: reasons.NO_CAPACITY,
    }


RUNNING: Final = PipelineRunning()
