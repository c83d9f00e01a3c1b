"""The warm pool of a job: a folder that the next job with the same settings finds as this one leaves it."""

import os

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.statuses import POOLS, folder_name


@dataclass(frozen=True, kw_only=True, slots=True)
class WarmPoolPlan:
    """How long the pool is kept after the job, and for which jobs."""

    seconds: int
    like: str
    """The settings that another job must have too."""
    directory: str = ""
    """On this machine, with a folder for each host. Empty: the containers get new folders."""


def pool_directory(job_directory: str, name: str, run_id: str) -> str:
    """Where the folders of the hosts are while this job has the pool."""
    home = os.path.dirname(os.path.dirname(job_directory))
    return os.path.join(home, POOLS, folder_name(name, run_id))
