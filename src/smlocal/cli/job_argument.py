"""The argument of commands that take the names of jobs, and how the name of a job file ends."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

JOB_FILE_ENDINGS = (".yaml", ".yml", ".json")


def job_argument(command: Callable[..., Any], *, parameter: str = "name") -> Callable[..., Any]:
    """Add the argument NAME: one job. What is wrong on the command line is an error before the job is looked for."""

    @wraps(command)
    def resolving(*arguments: Any, **given: Any) -> Any:
        from smlocal.api.job_names import resolve_job_name

        given[parameter] = resolve_job_name(given[parameter])
        return command(*arguments, **given)

    return click.argument(parameter, metavar="NAME", shell_complete=completed_jobs)(resolving)


def jobs_argument(command: Callable[..., Any], *, required: bool = True) -> Callable[..., Any]:
    """Add the argument NAME...: several jobs, each as the command was given it."""
    metavar = "NAME..." if required else "[NAME...]"
    add = click.argument("names", nargs=-1, required=required, metavar=metavar, shell_complete=completed_jobs)
    return add(command)


def completed_jobs(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of jobs, for the completion of a shell."""
    del context, parameter
    from smlocal.api.job_names import completed_names

    return completed_names(incomplete)
