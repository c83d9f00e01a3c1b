"""Containers and folders that an ended job keeps because `Local.Keep` says so, until `smlocal rm` or `--replace`."""

import os
from contextlib import suppress

from smlocal.contract.statuses import JobStatus
from smlocal.planning.model import JobPlan

_MARK = "kept"
"""A file in the job's folder. It is there as long as they are."""


def keeps(plan: JobPlan, status: JobStatus) -> bool:
    """True if a job that ends with this status keeps its containers."""
    return plan.keep == "all" or (plan.keep == "failed" and status is JobStatus.FAILED)


def mark_kept(job_directory: str) -> bool:
    """Record that they are kept; False if that is not possible, on a full disk."""
    try:
        with open(os.path.join(job_directory, _MARK), "wb"):
            return True
    except OSError:
        return False


def is_kept(job_directory: str) -> bool:
    """True for a job that has kept them."""
    return os.path.exists(os.path.join(job_directory, _MARK))


def unmark_kept(job_directory: str) -> None:
    """Record that they have been removed."""
    with suppress(OSError):
        os.unlink(os.path.join(job_directory, _MARK))
