"""The argument JOB/FILE: a job of the service by its name or ARN, or a file that describes one."""

import os
from typing import TYPE_CHECKING

import click

from smlocal.cli.job_options import JOB_FILE_ENDINGS

if TYPE_CHECKING:
    from smlocal.remote.fetched_job import FetchedJob


def job_of_service(job: str, *, chosen: str | None, profile: str | None, region: str | None) -> "FetchedJob":
    """The job that is meant. `chosen`: which one, if a file describes several. A file needs nothing of AWS."""
    if not names_file(job):
        if chosen is not None:
            raise click.UsageError("--job chooses a job in a file.")
        from smlocal.remote.fetched_job import fetch_job

        return fetch_job(job, profile=profile, region=region)
    from smlocal.remote.answer_file import read_answer
    from smlocal.remote.described_job import described_job
    from smlocal.remote.fetched_job import FetchedJob

    document = read_answer(job)
    found = described_job(document.data, name=document.name, job=chosen)
    note = "Tags are not in the answer: ListTags has them."
    return FetchedJob(job=found, notes=(note,) if found.answer is not None and "Tags" not in found.request else ())


def names_file(job: str) -> bool:
    """Whether the argument names a file: a name of a job has no dots and no slashes, and an ARN begins as one."""
    if job.startswith("arn:"):
        return False
    return job == "-" or os.path.lexists(job) or "/" in job or job.endswith(JOB_FILE_ENDINGS)
