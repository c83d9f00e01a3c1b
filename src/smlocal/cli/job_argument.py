"""The argument of commands that take the names of jobs."""

from collections.abc import Callable
from typing import Any

import click


def job_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument NAME: one job."""
    return click.argument("name", callback=_resolved, shell_complete=_completed)(command)


def jobs_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument NAME...: several jobs, each as the command was given it."""
    return click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=_completed)(command)


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    del context, parameter
    from smlocal.api.name_completion import completed_names

    return completed_names(incomplete)


def _resolved(context: click.Context, parameter: click.Parameter, value: str) -> str:
    del parameter
    if context.resilient_parsing:  # a shell completes what follows
        return value
    from smlocal.api.job_names import resolve_job_name

    return resolve_job_name(value)
