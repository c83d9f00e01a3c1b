"""`smlocal rm`: forget finished jobs."""

import click


@click.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.pass_context
def command(ctx: click.Context, *, names: tuple[str, ...]) -> int:
    """Forget finished jobs and delete their logs. Artifacts in the output folder stay.

    One that cannot be removed keeps none of the others; the exit code is then the highest.
    """
    from smlocal.cli.trouble import show_error
    from smlocal.errors import SmlocalError
    from smlocal.job.orphans import see_to
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    worst = 0
    with Store.open(home_directory()) as store:
        for name in dict.fromkeys(names):
            try:
                see_to(store, name)
                store.remove(name)
            except SmlocalError as error:
                show_error(error, debug=ctx.obj["debug"], as_json=False)
                worst = max(worst, error.exit_code)
            else:
                click.echo(f"removed {name}", err=True)
    return worst
