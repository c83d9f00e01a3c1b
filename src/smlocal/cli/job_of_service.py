"""The argument JOB/FILE: a job of the service by its name or ARN, or a file that describes one.

And the options that say which AWS account and region are asked.
"""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from smlocal.api.job_names import resolve_job_name
from smlocal.base.at_use import at_use
from smlocal.cli.job_argument import job_named
from smlocal.cli.job_file_here import JOB_FILE_ENDINGS
from smlocal.cli.shown_help import shown_option
from smlocal.errors import SmlocalError, UsageRefusedError
from smlocal.jobfile.option import Head

if TYPE_CHECKING:
    from smlocal.jobfile.document import Document
    from smlocal.service.described_job import FetchedJob, fetch_job, is_job_arn
else:
    fetch_job = at_use("smlocal.service.described_job", "fetch_job")
    is_job_arn = at_use("smlocal.service.described_job", "is_job_arn")


def service_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --profile and --region to a command."""
    for option in (
        shown_option(
            "--region", metavar="REGION", help="AWS region. Default: your AWS configuration.", head=Head.SERVICE
        ),
        shown_option(
            "--profile", metavar="PROFILE", help="AWS profile. Default: your AWS configuration.", head=Head.SERVICE
        ),
    ):
        command = option(command)
    return command


def job_of_service(
    job: str,
    *,
    chosen: str | None,
    profile: str | None,
    region: str | None,
    refuse: Callable[[Mapping[str, Any], str], None] = lambda _document, _name: None,
    read: "Document | None" = None,
) -> "FetchedJob":
    """The job that is meant. `chosen`: which one, if a file describes several. A file needs nothing of AWS.

    `refuse` raises an error for a document of another kind, such as an endpoint. `read`: the file, if it was read.
    """
    if not names_file(job):
        if chosen is not None:
            raise click.UsageError("--job chooses a job in a file.")

        try:
            return fetch_job(job, profile=profile, region=region)
        except SmlocalError as error:
            # A job of the service may have the same name, so it is asked first.
            here = _job_here(job)
            if here is None:
                raise
            refuse(job_named(here).describe(), here)
            what_helps = _what_helps(here)
            if isinstance(error, UsageRefusedError):
                raise UsageRefusedError(
                    f"{here} is a job of this machine, not of the service", remedy=what_helps
                ) from error
            error.remedy = (f"{here} is a job of this machine:", *what_helps, *error.remedy)
            raise
    from smlocal.service.described_job import FetchedJob, described_job, read_answer

    document = read_answer(job) if read is None else read
    refuse(document.data, document.name)
    found = described_job(document.data, name=document.name, job=chosen)
    note = "Tags are not in the answer: ListTags has them."
    return FetchedJob(job=found, notes=(note,) if found.answer is not None and "Tags" not in found.request else ())


def names_file(job: str) -> bool:
    """Whether the argument names a file: a name of a job has no dots and no slashes, and an ARN begins as one."""
    if job.startswith("arn:"):
        return False
    return job == "-" or os.path.lexists(job) or "/" in job or job.endswith(JOB_FILE_ENDINGS)


def _job_here(text: str) -> str | None:
    """The name of the job of this machine that may be meant."""
    if is_job_arn(text):
        return None
    try:
        return resolve_job_name(text)
    except SmlocalError:
        return None


def _what_helps(here: str) -> list[str]:
    from smlocal.api.job_files import REPLICAS, kind_of

    replicas = kind_of(job_named(here).describe(service=True)) is REPLICAS
    made = f"init {here}.json" if replicas else f"fetch {here}.json --allow-local-paths"
    return [
        f"To see it:  smlocal describe {here}",
        f"To run its request again:  smlocal rerun {here}",
        f"For its job file:  smlocal describe {here} --json >{here}.json && smlocal {made}",
    ]
