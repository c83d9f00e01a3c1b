"""`smlocal recover`: after a crash."""

import click


@click.command("recover")
def command() -> int:
    """Bring jobs to their end whose supervisor was killed.

    Waits until they have ended.

    Any command that touches such a job does this by itself, in the background.
    """
    from smlocal.cli.wait import wait_for
    from smlocal.engine.docker import connect
    from smlocal.job.orphans import orphans
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        names = tuple(orphans(store))
        if not names:
            click.echo("Every job has its supervisor or has ended.", err=True)
            return 0
        connect().facts()  # without an engine they would wait for ever
        click.echo(f"recovering {', '.join(names)}", err=True)
        wait_for(store, names, None)
        for name in names:
            click.echo(f"{name} {store.get(name).status}", err=True)
    return 0
