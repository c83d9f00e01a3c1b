"""`smlocal rm`: forget finished jobs."""

import click


@click.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def command(*, names: tuple[str, ...]) -> None:
    """Forget finished jobs and delete their logs. Artifacts in the output folder stay."""
    from smlocal.job.orphans import see_to
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        for name in names:
            see_to(store, name)
            store.remove(name)
            click.echo(f"removed {name}", err=True)
