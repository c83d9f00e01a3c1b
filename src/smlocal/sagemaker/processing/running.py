"""What is decided about a processing job that runs, and how it ends."""

import re
from typing import ClassVar, Final

from smlocal.base.regex import regex
from smlocal.jobs.decide.attempt_outcome import AttemptOutcome, Symptoms
from smlocal.jobs.kinds import Reasons, Running
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.sagemaker.contract.outcome import reasons
from smlocal.sagemaker.training import running as training
from smlocal.sagemaker.usage_block import planned_usage
from smlocal.terms.statuses import Ending, FailureKind

_NOT_FOUND: Final = regex(r"executable file not found|no such file or directory", re.IGNORECASE)
_NO_PROGRAM: Final = 127
"""The exit code that the service reports for a program that is not there (seen)."""


def _not_started(message: str) -> str:
    if _NOT_FOUND.search(message):
        return reasons.algorithm_error(b"", _NO_PROGRAM)
    return reasons.cannot_start(message)


class ProcessingRunning(Running):
    """No docker command: it could not deliver the inputs."""

    REASONS: ClassVar[Reasons] = {**training.RUNNING.REASONS, FailureKind.START: _not_started}
    usage = staticmethod(planned_usage)

    def ending(self, outcome: AttemptOutcome, failure_file: bytes) -> tuple[Ending, str | None]:
        """As for a training job, but the reason does not have the failure file (seen)."""
        if outcome.failure is not None:
            return super().ending(outcome, failure_file)
        return training.RUNNING.ending(outcome, b"")

    def hint(self, plan: JobPlan, host: HostPlan, symptoms: Symptoms) -> str | None:
        """From the request, the log and the container."""
        from smlocal.sagemaker.processing.hints import hint as hint_of  # after a failure only: dozens of patterns

        return hint_of(plan, host, symptoms)


RUNNING: Final = ProcessingRunning()
