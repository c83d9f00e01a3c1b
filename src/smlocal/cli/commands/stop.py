"""`smlocal stop`: what StopTrainingJob does."""

import click

_LONGEST = 120


@click.command("stop")
@click.argument("name")
@click.option(
    "--grace", type=float, metavar="SECONDS", help="Time from SIGTERM to SIGKILL. Default: the job's setting (120)."
)
@click.option("--force", is_flag=True, help=f"Allow more than the {_LONGEST} s of the service.")
@click.option("--wait", is_flag=True, help="Wait until the job ends, and exit as smlocal wait does.")
def command(*, name: str, grace: float | None, force: bool, wait: bool) -> int:
    """Stop a running job, with time to save its work.

    Sends SIGTERM, then SIGKILL after the grace period (120 s, or the job's setting).
    Returns once the stop is recorded; the job then packs its artifacts.
    """
    from smlocal.api.stopping import LONGEST_GRACE, stop
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    if grace is not None and grace < 0:
        raise click.UsageError("--grace: must not be negative.")
    if grace is not None and not grace <= LONGEST_GRACE:  # not a number neither
        raise click.UsageError(f"--grace: give seconds, {LONGEST_GRACE} at most.")
    if grace is not None and grace > _LONGEST and not force:
        raise click.UsageError(f"--grace: the service allows at most {_LONGEST} s; use --force for more.")

    def removed(engine: str) -> None:
        click.echo(f"removed what {name} left on the engine at {engine}", err=True)

    with Store.open(home_directory()) as store:
        stop(store, name, grace=grace, removed=removed)
        click.echo(f"stopping {name}", err=True)
        if wait:
            from smlocal.cli.commands.wait import wait_for

            return wait_for(store, (name,), None)
    return 0
