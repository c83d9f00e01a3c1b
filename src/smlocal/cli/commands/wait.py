"""`smlocal wait`: until jobs have ended."""

from typing import TYPE_CHECKING

import click

from smlocal.cli.commands.run import EXIT_CODES

if TYPE_CHECKING:
    from smlocal.store.jobs import Store


@click.command("wait")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Give up after this time, with exit code 124."
)
def command(*, names: tuple[str, ...], timeout: float | None) -> int:
    """Wait until jobs have ended.

    Exits with the first exit code that is not 0, in the given order.
    """
    if timeout is not None and timeout != timeout:  # noqa: PLR0124 - only what is not a number differs from itself
        raise click.UsageError("--timeout: must be a number of seconds.")
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        return wait_for(store, names, timeout)


def wait_for(store: "Store", names: tuple[str, ...], timeout: float | None) -> int:
    """The exit code of the wait for jobs and their supervisors."""
    from smlocal.api.waiting import ended
    from smlocal.errors import WaitTimeoutError

    try:
        codes = {name: EXIT_CODES[status] for name, status in ended(store, names, timeout=timeout)}
    except WaitTimeoutError as error:
        return error.exit_code
    return next((codes[name] for name in names if codes[name]), 0)
