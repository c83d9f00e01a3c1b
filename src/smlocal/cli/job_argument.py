"""How a command is told which jobs it is about: by their names, or by how and when they ended."""

import re
import time
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from smlocal.api.job_list import JobSelection
    from smlocal.api.training_job import TrainingJob

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
ENDED = ("Completed", "Failed", "Stopped")


def job_argument(command: Callable[..., Any], *, parameter: str = "name", required: bool = False) -> Callable[..., Any]:
    """Add the argument NAME: one job, by default the newest one. With `required` it must be named.

    A mistake on the command line is an error before the job is looked for.
    """

    @wraps(command)
    def resolving(*arguments: Any, **given: Any) -> Any:
        given[parameter] = named_or_newest(given[parameter])
        return command(*arguments, **given)

    metavar = "NAME" if required else "[NAME]"
    return click.argument(parameter, required=required, metavar=metavar, shell_complete=completed_jobs)(resolving)


def named_or_newest(text: str | None) -> str:
    """The name of the job that is meant. The newest one is named on standard error."""
    from smlocal.api.job_names import newest_job_name, resolve_job_name

    if text is not None:
        return resolve_job_name(text)
    name = newest_job_name()
    click.echo(f"newest job: {name}", err=True)
    return name


def job_named(name: str) -> "TrainingJob":
    """A job. Nothing else in commands imports its class, so that help and completed names come at once."""
    from smlocal.api.training_job import TrainingJob

    return TrainingJob(name)


def jobs_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument NAME...: several jobs, each as the command was given it."""
    return click.argument("names", nargs=-1, metavar="[NAME...]", shell_complete=completed_jobs)(command)


def completed_jobs(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of jobs, for the completion of a shell."""
    del context, parameter
    from smlocal.api.job_names import completed_names

    return completed_names(incomplete)


def _seconds(context: click.Context, option: click.Parameter, value: str | None) -> float | None:
    """A time such as `90s`, `30m`, `12h`, `7d` or `2w`, in seconds."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smhdw])", value, re.ASCII)
    if found is None:
        said = f"{value!r} is not a duration: write a number and s, m, h, d or w, such as 12h or 7d."
        raise click.BadParameter(said, ctx=context, param=option)
    return float(found[1]) * _SECONDS[found[2]]


STATUS_OPTION = click.option(
    "--status",
    "statuses",
    type=click.Choice(ENDED, case_sensitive=False),
    multiple=True,
    help="Choose jobs that ended with this status; repeatable.",
)
AGE_OPTION = click.option(
    "--older-than",
    callback=_seconds,
    metavar="AGE",
    help="Choose jobs that ended at least this long ago, such as 12h or 7d.",
)


def selection_of(
    statuses: tuple[str, ...], older_than: float | None, kinds: tuple[str, ...] = ()
) -> "JobSelection | None":
    """What the options choose; None without them."""
    if not statuses and older_than is None and not kinds:
        return None
    from smlocal.api.job_list import JobSelection, kinds_worded

    return JobSelection(
        statuses=frozenset(statuses),
        ended_before=None if older_than is None else time.time() - older_than,
        platforms=kinds_worded(kinds),
    )
