"""`smlocal rm`: forget finished jobs."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from smlocal.store.jobs import Store


@click.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--force", is_flag=True, help="Also forget what the jobs may have left on an unreachable engine.")
@click.pass_context
def command(ctx: click.Context, *, names: tuple[str, ...], force: bool) -> int:
    """Remove finished jobs and their logs. Artifacts in the output folder are kept.

    If one job cannot be removed, the others still are. The exit code is then the highest one.
    """
    from smlocal.cli.terminal.errors import show_error
    from smlocal.errors import SmlocalError
    from smlocal.job.control.orphans import see_to
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    worst = 0
    with Store.open(home_directory()) as store:
        for name in dict.fromkeys(names):
            try:
                see_to(store, name)
                if store.left_on_engines(name):
                    _clear_engines(store, name, force=force)
                store.remove(name)
            except SmlocalError as error:
                show_error(error, debug=ctx.obj["debug"], as_json=False)
                worst = max(worst, error.exit_code)
            else:
                click.echo(f"removed {name}", err=True)
    return worst


def _clear_engines(store: "Store", name: str, *, force: bool) -> None:
    """Remove what jobs of this name have left, while it is still known."""
    from smlocal.engine.docker import connect_to
    from smlocal.errors import JobLeftoversError
    from smlocal.job.finish.engine_leftovers import clear_engine_of

    for left in store.left_on_engines(name):
        try:
            stays = clear_engine_of(store, left, connect_to)
        except JobLeftoversError:
            if not force:
                raise
            store.forget_left(left.run_id)
            click.echo(f"forgot what {name} may have left on the engine at {left.engine}", err=True)
        else:
            for each in stays:
                click.echo(f"{name}: {each}", err=True)
