"""What is decided about a transform job that runs, and how it ends."""

from typing import ClassVar, Final

from smlocal.jobs.decide.attempt_outcome import AttemptOutcome, Symptoms
from smlocal.jobs.kinds import Reasons, Running
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.sagemaker.contract.outcome import reasons
from smlocal.sagemaker.transform import facts
from smlocal.terms.statuses import FAILED, Ending, FailureKind


class TransformRunning(Running):
    """No command, as for an endpoint."""

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

    def hint(self, plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:
        """From the log and the container."""
        from smlocal.sagemaker.shared_hints import hint_of_server  # after a failure only: dozens of patterns

        return hint_of_server(plan, host, symptoms)


RUNNING: Final = TransformRunning()
