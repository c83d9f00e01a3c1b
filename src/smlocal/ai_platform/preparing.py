"""Jobs of AI Platform Training and custom jobs before they run."""

from typing import Final

from smlocal.ai_platform import planning, planning_of_jobs, views_of_jobs
from smlocal.jobs.kinds import Preparing
from smlocal.jobs.planning.model import JobPlan


class ReplicaPreparing(Preparing[JobPlan]):
    """The decisions of this platform. A script would have to restart replicas, so there is none."""

    NO_SCRIPT = "smlocal restarts its replicas and retries the job"

    read = staticmethod(planning.read_recorded)
    prepare = staticmethod(planning.prepare)
    plan_again = staticmethod(planning.plan_again)
    plan_document = staticmethod(planning_of_jobs.plan_document)
    plan_rows = staticmethod(views_of_jobs.plan_rows)


PREPARING: Final = ReplicaPreparing()
