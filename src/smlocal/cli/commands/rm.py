"""`smlocal rm`: forget finished jobs."""

import click


@click.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--stop", is_flag=True, help="Kill jobs that have not ended, and remove them when they have.")
@click.option("--force", is_flag=True, help="Also forget what the jobs may have left on an unreachable engine.")
@click.pass_context
def command(ctx: click.Context, *, names: tuple[str, ...], stop: bool, force: bool) -> int:
    """Remove finished jobs and their logs. Artifacts in the output folder are kept.

    NAME is a job, or a shell pattern with * ? [] in quotes.
    If one job cannot be removed, the others still are. The exit code is then the highest one.
    """
    from smlocal.api.removing import matching, remove
    from smlocal.cli.terminal.errors import show_error
    from smlocal.errors import SmlocalError
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    def say(line: str) -> None:
        click.echo(line, err=True)

    worst = 0
    with Store.open(home_directory()) as store:
        found = {each: matching(store, each) for each in names}
        for pattern, matched in found.items():
            if not matched:
                say(f"no job matches {pattern}")
        for name in dict.fromkeys(name for matched in found.values() for name in matched):
            try:
                remove(store, name, stop=stop, force=force, said=say)
            except SmlocalError as error:
                show_error(error, debug=ctx.obj["debug"], as_json=False)
                worst = max(worst, error.exit_code)
            else:
                say(f"removed {name}")
    return worst
