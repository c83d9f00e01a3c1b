"""`smlocal stop`: stop a job, as StopTrainingJob does, or cancel one of replicas."""

import time

import click

from smlocal.api.stopping import LONGEST_GRACE
from smlocal.api.training_job import TrainingJob
from smlocal.cli.job_argument import job_argument
from smlocal.cli.shown_help import shown_command
from smlocal.jobs.contract.statuses import JobStatus


@shown_command(
    "stop",
    examples=(
        ("smlocal stop @last", "Stop the newest job."),
        ("smlocal stop my-job --grace 0 --wait", "Kill a job and wait for its end."),
    ),
)
@job_argument
@click.option(
    "--grace",
    type=float,
    metavar="SECONDS",
    help="Time from SIGTERM to SIGKILL. Default: the job's setting (120; custom jobs 30).",
)
@click.option("--force", is_flag=True, help="Allow more than the 120 s that SageMaker allows.")
@click.option("--wait", is_flag=True, help="Wait until the job ends; exit with 0 if it was stopped.")
def command(*, name: str, grace: float | None, force: bool, wait: bool) -> int:
    """Stop a running job, with time to save its work.

    Sends SIGTERM, then SIGKILL after the grace period: 120 s, or the job's setting; 30 s for jobs of AI Platform
    Training and custom jobs. Returns once the stop is recorded; the job then packs its artifacts.
    """
    if grace is not None and grace < 0:
        raise click.UsageError("--grace: must not be negative.")
    if grace is not None and not grace <= LONGEST_GRACE:  # also for NaN
        raise click.UsageError(f"--grace: give seconds, {LONGEST_GRACE} at most.")

    job = TrainingJob(name)
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
