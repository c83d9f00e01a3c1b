"""SageMaker's jobs before they run: `jobs.kinds.Preparing`."""

from collections.abc import Iterable

from smlocal.jobs.planning.model import JobPlan
from smlocal.sagemaker.prepare import plan_again, prepare_recorded
from smlocal.sagemaker.script import shell_script
from smlocal.sagemaker.show import plan_document
from smlocal.sagemaker.show import plan_rows as rows

__all__ = ["plan_again", "plan_document", "plan_rows", "prepare_recorded", "script"]


def plan_rows(plan: JobPlan) -> Iterable[tuple[str, str]]:
    """The plan for people."""
    return rows(plan)


def script(plan: JobPlan) -> str:
    """The job as docker commands."""
    return shell_script(plan)
