"""`smlocal recover`: after a crash."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smlocal.errors import SmlocalError
    from smlocal.store.jobs import Store


@click.command("recover")
@click.pass_context
def command(ctx: click.Context) -> int:
    """Finish jobs whose supervisor was killed.

    Waits until they end. Also removes what ended jobs left on engines that were unreachable.

    Any command that touches such a job starts its recovery in the background.
    """
    from smlocal.api.recovering import recover
    from smlocal.cli.terminal.errors import show_error
    from smlocal.job.control.orphans import orphans
    from smlocal.job.finish.document_copies import complete_copies
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        names = orphans(store)
        if not names:
            click.echo("No job needs recovery.", err=True)
        else:
            click.echo(f"recovering {', '.join(names)}", err=True)
        left = recover(store, names)
        for name in names:
            if name not in left:
                click.echo(f"{name} {store.get(name).status}", err=True)
        trouble = [*left.values(), *_clear_engines(store)]
        complete_copies(store)
        for error in trouble:
            show_error(error, debug=ctx.obj["debug"], as_json=False)
    return max((error.exit_code for error in trouble), default=0)


def _clear_engines(store: "Store") -> "Iterator[SmlocalError]":
    """Remove what ended jobs have left on engines that did not answer then; yields what does not work now either."""
    from smlocal.errors import JobLeftoversError

    for left in store.left_on_engines():
        from smlocal.engine.docker import connect_to
        from smlocal.job.finish.engine_leftovers import clear_engine_of

        try:
            stays = clear_engine_of(store, left, connect_to)
        except JobLeftoversError as error:
            yield error
        else:
            for each in stays or [f"removed what it left on the engine at {left.engine}"]:
                click.echo(f"{left.name}: {each}", err=True)
