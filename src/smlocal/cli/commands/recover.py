"""`smlocal recover`: finish jobs after a crash."""

import click

from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.errors import show_error


@shown_command(
    "recover",
    examples=(("smlocal recover", "Finish all such jobs."),),
)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Finish jobs whose supervisor was killed.

    Waits until they end; endpoints until they are in service. Also removes what ended jobs left on engines that were
    unreachable.

    Any command that touches such a job starts its recovery in the background.
    """
    from smlocal.api.recovering import recover_all

    errors = recover_all(lambda line: click.echo(line, err=True))
    for error in errors:
        show_error(error, debug=ctx.obj["debug"], as_json=False)
    return max((error.exit_code for error in errors), default=0)
