"""Jobs of AI Platform Training and custom jobs before they run: `jobs.kinds.Preparing`."""

from collections.abc import Iterable

from smlocal.ai_platform.job_preparation import plan_again, prepare_recorded
from smlocal.ai_platform.planning_of_jobs import plan_document
from smlocal.ai_platform.views_of_jobs import plan_rows as rows
from smlocal.jobs.planning.model import JobPlan

__all__ = ["plan_again", "plan_document", "plan_rows", "prepare_recorded", "script"]


def plan_rows(plan: JobPlan) -> Iterable[tuple[str, str]]:
    """The plan for people."""
    return rows(plan)


def script(plan: JobPlan) -> None:
    """A script would have to restart replicas."""
