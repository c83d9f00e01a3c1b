"""Ids that the services would give a job, made from its name on this machine: the same each time."""

import hashlib


def cluster_id(job: str) -> str:
    """The part of host names that all replicas of a job share."""
    return _digits(job)[:10]


def custom_job_number(job: str) -> str:
    """The number in the name of a custom job."""
    return str(int(_digits(job)[:15], 16) + 10**18)


def cloud_id(job: str) -> str:
    """`task.cloud` in TF_CONFIG, which means nothing to a program."""
    return f"w{_digits(job)[10:26]}-ml"


def _digits(job: str) -> str:
    return hashlib.sha256(job.encode()).hexdigest()
