"""`smlocal interrupt`: simulate a spot interruption."""

from functools import partial

import click

from smlocal.cli.job_argument import job_argument, job_named
from smlocal.cli.shown_help import shown_command


@shown_command(
    "interrupt",
    examples=(("smlocal interrupt my-job", "Interrupt a job once."),),
)
@partial(job_argument, required=True)
def command(*, name: str) -> None:
    """Simulate a spot interruption of a running job.

    Sends SIGTERM, waits for the grace period, and restarts the job from its checkpoints.

    The job must be training, with EnableManagedSpotTraining. Local.Faults in the job file does this at a set time.
    """
    job_named(name).interrupt()
    click.echo(f"interrupting {name}", err=True)
