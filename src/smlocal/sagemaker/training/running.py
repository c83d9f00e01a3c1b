"""The decisions of SageMaker about a training job that runs, and how it ends."""

from typing import TYPE_CHECKING, ClassVar, Final

from smlocal.base.at_use import at_use
from smlocal.jobs.decide.attempt_outcome import KILLED, AttemptOutcome, Symptoms
from smlocal.jobs.kinds import BesideJob, JobContext, Reasons, Running
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.sagemaker.contract.outcome import reasons
from smlocal.terms.statuses import FAILED, Ending, FailureKind

if TYPE_CHECKING:
    from smlocal.sagemaker.training.plan import for_attempt as with_attempt
    from smlocal.sagemaker.training.script import docker_command as command
    from smlocal.sagemaker.usage_block import planned_usage
else:
    command = at_use("smlocal.sagemaker.training.script", "docker_command")
    planned_usage = at_use("smlocal.sagemaker.usage_block", "planned_usage")
    with_attempt = at_use("smlocal.sagemaker.training.plan", "for_attempt")


class TrainingRunning(Running):
    """Everything that a job can have."""

    REASONS: ClassVar[Reasons] = {
        FailureKind.INTERNAL: reasons.INTERNAL_ERROR,
        FailureKind.INPUT: reasons.client_error,
        FailureKind.IMAGE: reasons.CANNOT_PULL,
        FailureKind.START: reasons.cannot_start,
        FailureKind.CAPACITY: reasons.NO_CAPACITY,
    }
    for_attempt = staticmethod(with_attempt)
    usage = staticmethod(planned_usage)

    def begin_rules(self, plan: JobPlan, context: JobContext, *, first: bool) -> BesideJob | None:
        """Evaluate the debugger rules beside the job."""
        if not plan.rules.each:
            return None
        from smlocal.sagemaker.training.rules_of_job import begin_rules as begin  # the room of the debugger

        return begin(plan, context, first=first)

    def ending(self, outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:
        """The status a job ends with, and its FailureReason. A recorded stop is never turned into a host's failure."""
        if outcome.failure is not None or outcome.first_failure is None:
            return super().ending(outcome, failure_file)
        end = next(end for end in outcome.ends if end.host == outcome.first_failure)
        if end.oom_killed and end.exit_code == KILLED:
            return FAILED, reasons.OUT_OF_MEMORY
        return FAILED, reasons.algorithm_error(failure_file, end.exit_code)

    def hint(self, plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:
        """From the image, the request and the log."""
        from smlocal.sagemaker.training.hints import hint as hint_of  # after a failure only: dozens of patterns

        return hint_of(plan, host, symptoms)

    def docker_command(self, plan: JobPlan) -> str | None:
        """`docker run`, or the command that prints a script; None on several engines."""
        return None if plan.engines.several else command(plan)


RUNNING: Final = TrainingRunning()
