"""The folder of each check that runs jobs, and what checks that were killed have left."""

import os
from contextlib import suppress

from smlocal.api.job_list import matching_jobs
from smlocal.api.training_job import TrainingJob
from smlocal.errors import JobUnknownError, SmlocalError
from smlocal.removal import remove_tree
from smlocal.store.lease import Lease, leased_folders

NAMES = "check-"
"""What the names of all jobs of checks begin with; the id of the check follows."""


def checks_folder(home: str) -> str:
    """Where the folders are. A check holds the lock on its own for as long as it lives."""
    return os.path.join(home, "checks")


def remove_leftovers(home: str) -> None:
    """Remove the jobs and folders of checks whose process is gone. What cannot be removed now is left for later."""
    for each in leased_folders(checks_folder(home)):
        with suppress(SmlocalError):
            _remove_dead(each)


def remove_job(name: str) -> None:
    """Kill a job if it runs, and forget it."""
    with suppress(JobUnknownError):
        TrainingJob(name).remove(stop=True)


def _remove_dead(folder: str) -> None:
    try:
        lease = Lease.take(folder)
    except OSError:  # meanwhile, by another check
        return
    if lease is None:
        return
    with lease:
        for name in matching_jobs(f"{NAMES}{os.path.basename(folder)}-*"):
            remove_job(name)
        remove_tree(folder)
