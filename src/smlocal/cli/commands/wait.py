"""`smlocal wait`: wait until jobs have ended."""

import click

from smlocal.api.job_list import jobs_junit
from smlocal.api.stopping import wait_for_jobs
from smlocal.cli.commands.run import EXIT_CODES
from smlocal.cli.job_argument import jobs_argument, named_or_newest
from smlocal.cli.shown_help import shown_command
from smlocal.errors import WaitTimeoutError
from smlocal.jobs.finish.report_path import check_report_path, write_report


@shown_command(
    "wait",
    examples=(
        ("smlocal wait my-job", "Wait for one job."),
        ("smlocal wait my-job other-job --timeout 600", "Wait for two jobs, 10 minutes at most."),
    ),
)
@jobs_argument
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Give up after this time, with exit code 124."
)
@click.option(
    "--junit",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Write the outcome of all jobs to FILE as JUnit XML.",
)
def command(*, names: tuple[str, ...], timeout: float | None, junit: str | None) -> int:
    """Wait until jobs have ended.

    Default: the newest job. Exits with the first exit code that is not 0, in the order of the names.
    """
    if timeout is not None and timeout != timeout:  # noqa: PLR0124 - NaN
        raise click.UsageError("--timeout: must be a number of seconds.")
    names = tuple(map(named_or_newest, names or (None,)))
    if junit is None:
        return wait_for(names, timeout)

    check_report_path(junit)
    code = wait_for(names, timeout)
    write_report(junit, jobs_junit(names))
    return code


def wait_for(names: tuple[str, ...], timeout: float | None) -> int:
    """Wait for jobs and their supervisors; returns the exit code."""
    try:
        statuses = wait_for_jobs(names, timeout=timeout)
    except WaitTimeoutError as error:
        return error.exit_code
    return next((code for name in names if (code := EXIT_CODES[statuses[name]])), 0)
