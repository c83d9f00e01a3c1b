"""`smlocal stop`: stop a job, as StopTrainingJob does, or cancel one of replicas."""

import sys
import time

import click

from smlocal.api.job_list import unfinished_jobs
from smlocal.api.job_names import jobs_to_end
from smlocal.api.stopping import LONGEST_GRACE
from smlocal.cli.job_argument import completed_jobs, job_named
from smlocal.cli.shown_help import shown_command
from smlocal.errors import JobUnknownError
from smlocal.terms.statuses import JobStatus

_MOST_SHOWN = 5
_NOT_CONFIRMED = 2


@shown_command(
    "stop",
    examples=(
        ("smlocal stop @last", "Stop the newest job."),
        ("smlocal stop my-job --grace 0 --wait", "Kill a job and wait for its end."),
    ),
)
@click.argument("given", required=False, metavar="[NAME]", shell_complete=completed_jobs)
@click.option(
    "--grace",
    type=float,
    metavar="SECONDS",
    help="Time from SIGTERM to SIGKILL. Default: the job's setting (120; endpoints, transform and custom jobs 30).",
)
@click.option("--force", is_flag=True, help="Allow more than the 120 s that SageMaker allows.")
@click.option("--wait", is_flag=True, help="Wait until the job ends; exit with 0 if it was stopped.")
def command(*, given: str | None, grace: float | None, force: bool, wait: bool) -> int:
    """Stop a running job, with time to save its work.

    Sends SIGTERM, then SIGKILL after the grace period: 120 s, or the job's setting; 30 s for endpoints, transform jobs
    and jobs of AI Platform Training. Returns once the stop is recorded; the job then packs its artifacts. Without
    NAME, it asks on a terminal whether the newest running job is meant.
    """
    if grace is not None and grace < 0:
        raise click.UsageError("--grace: must not be negative.")
    if grace is not None and not grace <= LONGEST_GRACE:  # also for NaN
        raise click.UsageError(f"--grace: give seconds, {LONGEST_GRACE} at most.")

    name = jobs_to_end(given)[0] if given is not None else _confirmed_job()
    job = job_named(name)
    spoken = job.spoken
    if grace is not None and not force and spoken.longest_grace is not None and grace > spoken.longest_grace:
        raise click.UsageError(f"--grace: the service allows at most {spoken.longest_grace} s; use --force for more.")
    began = time.monotonic()
    job.stop(grace=grace, on_message=lambda line: click.echo(line, err=True))
    if wait and grace != 0:  # it may take two minutes
        click.echo(f"{spoken.stopping} {name} (to kill it at once: smlocal stop {name} --grace 0)", err=True)
    else:
        click.echo(f"{spoken.stopping} {name}", err=True)
    if wait:
        from smlocal.cli.commands.wait import wait_for

        code = wait_for((name,), None)
        click.echo(f"{name}: {job.state} after {time.monotonic() - began:.1f} s", err=True)
        return 0 if job.status == JobStatus.STOPPED else code  # which is what was asked
    return 0


def _confirmed_job() -> str:
    """The newest job that runs, if a person at a terminal says that it is meant."""
    running = unfinished_jobs()
    if not running:
        raise JobUnknownError("no job is running", remedy=["smlocal jobs lists the jobs that there are."])
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        shown = ", ".join(running[:_MOST_SHOWN]) + (", …" if len(running) > _MOST_SHOWN else "")
        raise click.UsageError(f"Missing argument 'NAME'. Running now: {shown}.")
    if not click.confirm(f"Stop {running[0]}?", default=False, err=True):
        click.echo("Nothing was stopped.", err=True)
        raise SystemExit(_NOT_CONFIRMED)
    return running[0]
