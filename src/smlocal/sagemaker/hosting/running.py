"""What is decided about an endpoint that runs. How it ends is its supervisor's decision."""

from typing import TYPE_CHECKING, ClassVar, Final

from smlocal.base.at_use import at_use
from smlocal.jobs.kinds import Reasons, Running
from smlocal.sagemaker.contract.outcome import reasons
from smlocal.sagemaker.serving import facts
from smlocal.terms.statuses import FailureKind

if TYPE_CHECKING:
    from smlocal.sagemaker.usage_block import planned_usage
else:
    planned_usage = at_use("smlocal.sagemaker.usage_block", "planned_usage")


class EndpointRunning(Running):
    """No hints: those that there are know programs that train. No command: the folder of the model is gone by then."""

    REASONS: ClassVar[Reasons] = {
        FailureKind.INTERNAL: reasons.INTERNAL_ERROR,
        FailureKind.INPUT: str,
        FailureKind.IMAGE: "The image of the primary container cannot be pulled.",
        FailureKind.START: facts.not_healthy(facts.VARIANT),
        FailureKind.CAPACITY: reasons.NO_CAPACITY,
    }
    usage = staticmethod(planned_usage)


RUNNING: Final = EndpointRunning()
