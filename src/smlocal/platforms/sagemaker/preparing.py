"""SageMaker's jobs before they run: `job.kinds.Preparing`."""

from collections.abc import Iterable

from smlocal.planning.model import JobPlan
from smlocal.platforms.sagemaker.prepare import plan_again, prepare_recorded
from smlocal.platforms.sagemaker.show import plan_document

__all__ = ["plan_again", "plan_document", "plan_rows", "prepare_recorded", "script"]


def plan_rows(plan: JobPlan) -> Iterable[tuple[str, str]]:
    """The plan for people."""
    from smlocal.platforms.sagemaker.show import plan_rows as rows  # `smlocal plan` alone shows it

    return rows(plan)


def script(plan: JobPlan) -> str:
    """The job as docker commands."""
    from smlocal.platforms.sagemaker.script import shell_script  # likewise

    return shell_script(plan)
