"""`smlocal interrupt`: simulate a spot interruption."""

from functools import partial

import click

from smlocal.cli.job_argument import job_argument


@click.command("interrupt")
@partial(job_argument, required=True)
def command(*, name: str) -> None:
    """Simulate a spot interruption of a running job.

    Sends SIGTERM, waits for the grace period, and restarts the job from its checkpoints.

    The job must be training, with EnableManagedSpotTraining. Local.Faults in the job file interrupts at a set time.
    """
    from smlocal.api.training_job import TrainingJob

    TrainingJob(name).interrupt()
    click.echo(f"interrupting {name}", err=True)
