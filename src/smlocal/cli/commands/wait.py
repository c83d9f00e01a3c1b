"""`smlocal wait`: until jobs have ended."""

import time
from typing import TYPE_CHECKING

import click

from smlocal.cli.commands.run import EXIT_CODES

if TYPE_CHECKING:
    from smlocal.store.jobs import Store

_TIMED_OUT = 124
_SHORT, _LONG = 0.02, 0.25


@click.command("wait")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Give up after this; exit 124.")
def command(*, names: tuple[str, ...], timeout: float | None) -> int:
    """Wait until jobs have ended.

    Exits with the first exit code of theirs that is not 0, in the order given.
    """
    if timeout is not None and timeout != timeout:  # noqa: PLR0124 - only what is not a number differs from itself
        raise click.UsageError("--timeout: give seconds.")
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        return wait_for(store, names, timeout)


def wait_for(store: "Store", names: tuple[str, ...], timeout: float | None) -> int:
    """The exit code of the wait for jobs and their supervisors; orphans get another one meanwhile."""
    from smlocal.job.control.orphans import see_to
    from smlocal.store.lease import supervised

    deadline = None if timeout is None else time.monotonic() + timeout
    pause = _SHORT
    pending = list(dict.fromkeys(names))
    codes: dict[str, int] = {}
    while pending:
        for name in list(pending):
            see_to(store, name)
            status = store.get(name).status
            if status.terminal and supervised(store.directory(name)):
                pause = _SHORT  # it is being written down, and whoever waits may want to read that
            elif status.terminal:
                codes[name] = EXIT_CODES[status]
                pending.remove(name)
        if not pending:
            break
        if deadline is not None and time.monotonic() >= deadline:
            return _TIMED_OUT
        # Short at first, for jobs that are almost done; a wait of hours must not keep a laptop awake.
        time.sleep(pause)
        pause = min(pause * 1.5, _LONG)
    return next((codes[name] for name in names if codes[name]), 0)
