"""One `smlocal shell`: in the container of a job, or in a new one."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import click
from click.core import ParameterSource

from smlocal.api.image_name import is_image_name
from smlocal.api.job_files import kind_of
from smlocal.api.job_names import resolve_job_name
from smlocal.api.recorded_job import read_recorded
from smlocal.api.shell import find_containers, shell_in_job, shell_in_new_container
from smlocal.cli.job_argument import named_or_newest
from smlocal.cli.job_file_here import JOB_FILE_ENDINGS
from smlocal.cli.job_options import overrides_and_defaults, read_job_options
from smlocal.cli.terminal.messages import chosen_mode
from smlocal.cli.terminal.process_terminal import SignalledError, connect_streams, has_terminal, raised_signals
from smlocal.cli.terminal.screen import Screen
from smlocal.engine.interface import ProcessStreams
from smlocal.errors import JobUnknownError
from smlocal.jobs.shells import ShellProgram

_SIGNALLED = 128


def open_shell(subject: str | None, host: str, command: Sequence[str], given: dict[str, Any]) -> int:
    """Open it as the options say; returns the exit code."""
    program = ShellProgram(command=command, terminal=has_terminal())
    try:
        with raised_signals(), _open(subject, host, program, given) as streams:
            connect_streams(streams, terminal=program.terminal)
            return streams.exit_code()
    except SignalledError as error:
        return _SIGNALLED + (signal.SIGTERM if error.number == signal.SIGHUP else error.number)


def _open(
    subject: str | None, host: str, program: ShellProgram, given: dict[str, Any]
) -> AbstractContextManager[ProcessStreams]:
    name = _name(subject, described=bool(given["image"]))
    found = None if name is None else find_containers(name)
    if found is None:
        return _new(subject, name, host, program, given)
    _refuse_options(found.plan.name, given)
    return shell_in_job(found, host, program, warn=lambda text: click.echo(f"! {text}", err=True))


@contextmanager
def _new(
    subject: str | None, name: str | None, host: str, program: ShellProgram, given: dict[str, Any]
) -> Iterator[ProcessStreams]:
    """A new container. `name`: the ended job that it is for."""
    screen = Screen(output_to=sys.stderr.fileno(), mode=chosen_mode(None, quiet=False))
    if name is None:
        job, name = read_job_options({**given, "job": subject})
    else:
        overrides, defaults = overrides_and_defaults(given)
        overrides["name"] = overrides["name"] or name
        job, name = read_recorded(name, overrides, defaults=defaults, strict=given["strict"])
        if kind_of(job.document.data).has_workload:
            screen.warning(f"{name} has kept no container: this is a new one, as it was before the job began")
    if not kind_of(job.document.data).has_workload:
        raise click.UsageError(
            "A shell in a new container is for training jobs only. Other jobs have a shell while they run, and after "
            "smlocal run --keep all."
        )
    asked: Any = {"strict": given["strict"], "reporter": screen, "ready": screen.finish}
    try:
        with shell_in_new_container(job, name, host, program, **asked) as streams:
            yield streams
    finally:
        screen.finish()


def _name(subject: str | None, *, described: bool) -> str | None:
    """The name of the job that is meant; None if it is a job file, or if options describe a job."""
    if subject == "-":
        raise click.UsageError("A shell needs standard input for itself. Give the job in a file.")
    if subject is None and not described:
        return named_or_newest(None)
    if subject is None or os.sep in subject or subject.endswith(JOB_FILE_ENDINGS):
        return None

    try:
        return resolve_job_name(subject)
    except JobUnknownError as error:
        if os.path.isfile(subject):
            return None

        hint = f"If {subject} is an image: smlocal shell --image {subject}"
        remedy = (*error.remedy, *([hint] if is_image_name(subject) else []))
        raise JobUnknownError(error.sentence, details=error.details, remedy=remedy) from error


def _refuse_options(name: str, given: dict[str, Any]) -> None:
    context = click.get_current_context()
    for parameter in context.command.params:
        if parameter.name in given and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{parameter.opts[0]} changes a job before its container is made, and {name} has one already."
            )
