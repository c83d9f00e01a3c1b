"""What is decided about an endpoint that runs. How it ends is its supervisor's decision."""

from typing import TYPE_CHECKING, ClassVar, Final

from smlocal.base.at_use import at_use
from smlocal.jobs.decide.attempt_outcome import Symptoms
from smlocal.jobs.kinds import Reasons, Running
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.sagemaker.contract.outcome import reasons
from smlocal.sagemaker.serving import facts
from smlocal.terms.statuses import FailureKind

if TYPE_CHECKING:
    from smlocal.sagemaker.usage_block import planned_usage
else:
    planned_usage = at_use("smlocal.sagemaker.usage_block", "planned_usage")


class EndpointRunning(Running):
    """No command: the folder of the model is gone by then."""

    REASONS: ClassVar[Reasons] = {
        FailureKind.INTERNAL: reasons.INTERNAL_ERROR,
        FailureKind.INPUT: str,
        FailureKind.IMAGE: "The image of the primary container cannot be pulled.",
        FailureKind.START: facts.not_healthy(facts.VARIANT),
        FailureKind.CAPACITY: reasons.NO_CAPACITY,
    }
    usage = staticmethod(planned_usage)

    def hint(self, plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:
        """From the log and the container."""
        from smlocal.sagemaker.shared_hints import hint_of_server  # after a failure only: dozens of patterns

        return hint_of_server(plan, host, symptoms)


RUNNING: Final = EndpointRunning()
