"""What is decided about an endpoint that runs. How it ends is its supervisor's decision."""

from typing import ClassVar, Final

from smlocal.jobs.kinds import Reasons, Running
from smlocal.sagemaker.contract.outcome import reasons
from smlocal.sagemaker.serving import facts
from smlocal.terms.statuses import FailureKind


class EndpointRunning(Running):
    """No hints: those that there are know programs that train. No command: the folder of the model is gone by then."""

    REASONS: ClassVar[Reasons] = {
        FailureKind.INTERNAL: reasons.INTERNAL_ERROR,
        FailureKind.INPUT: str,
        FailureKind.IMAGE: "The image of the primary container cannot be pulled.",
        FailureKind.START: facts.not_healthy(facts.VARIANT),
        FailureKind.CAPACITY: reasons.NO_CAPACITY,
    }


RUNNING: Final = EndpointRunning()
