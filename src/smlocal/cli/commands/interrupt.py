"""`smlocal interrupt`: take the spot instances away."""

import click


@click.command("interrupt")
@click.argument("name")
def command(*, name: str) -> None:
    """Simulate a spot interruption of a running job.

    Sends SIGTERM, waits for the grace period, and restarts the job from its checkpoints.

    The job must be training, with EnableManagedSpotTraining. Local.Faults in the job file interrupts at a set time.
    """
    from smlocal.job.control.orphans import see_to
    from smlocal.job.control.requests import ask_to_interrupt
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        see_to(store, name)
        ask_to_interrupt(store, name)
    click.echo(f"interrupting {name}", err=True)
