"""`smlocal shell`: look around in the container of a job."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from smlocal.api.image_name import is_image_name
from smlocal.api.job_names import completed_names, resolve_job_name
from smlocal.cli.described_documents import allow_local_paths_option
from smlocal.cli.job_argument import JOB_FILE_ENDINGS, named_or_newest
from smlocal.cli.job_options import override_options, overrides_and_defaults, read_job_options
from smlocal.cli.shown_help import ShownCommand, shown_command, shown_option
from smlocal.cli.terminal.messages import chosen_mode
from smlocal.engine.interface import ProcessStreams
from smlocal.errors import JobUnknownError
from smlocal.jobfile.option import Head

if TYPE_CHECKING:
    from smlocal.jobs.shells import ShellProgram

_COMMAND = "smlocal.shell.command"
_SIGNALLED = 128


class _WithCommand(ShownCommand):
    """Everything after `--` is the command for the container, also if it looks like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, separator, command = args, "", []
        if "--" in args:
            at = args.index("--")
            own, separator, command = args[:at], "--", args[at + 1 :]
        ctx.meta[_COMMAND] = command
        if separator and not command:
            raise click.UsageError("Write a command after --, or leave -- out for a shell.", ctx)
        return super().parse_args(ctx, own)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    del context, parameter

    return [*map(CompletionItem, completed_names(incomplete)), CompletionItem(incomplete, type="file")]


@shown_command(
    "shell",
    cls=_WithCommand,
    examples=(
        ("smlocal shell my-job", "Open a shell in a running or kept job."),
        ("smlocal shell my-job -- ls /opt/ml", "Run one command there."),
        ("smlocal shell job.yaml", "Open a shell in a new container."),
    ),
)
@click.argument("subject", required=False, metavar="[JOB/NAME]", shell_complete=_completed)
@shown_option(
    "--host",
    default="1",
    metavar="HOST",
    help="Number or name of the host, such as 2, algo-2 or workerpool1-0. Default: 1.",
    head=Head.MACHINE,
    common=True,
)
@override_options
@allow_local_paths_option
def command(*, subject: str | None, host: str, **given: Any) -> int:
    """Open a shell in the container of a job.

    Running job: a shell in its container. Job run with --keep: a new container with its files. Other job or job file: a
    new container as at the start; options override the request. Default: the newest job. Exits with the exit code of
    the shell or of COMMAND.
    """
    from smlocal.cli.terminal.process_terminal import SignalledError, connect_streams, has_terminal, raised_signals
    from smlocal.jobs.shells import ShellProgram

    program = ShellProgram(command=click.get_current_context().meta[_COMMAND], terminal=has_terminal())
    try:
        with raised_signals(), _open(subject, host, program, given) as streams:
            connect_streams(streams, terminal=program.terminal)
            return streams.exit_code()
    except SignalledError as error:
        return _SIGNALLED + (signal.SIGTERM if error.number == signal.SIGHUP else error.number)


def _open(
    subject: str | None, host: str, program: "ShellProgram", given: dict[str, Any]
) -> "AbstractContextManager[ProcessStreams]":
    from smlocal.api.shell import find_containers, shell_in_job

    name = _name(subject, described=bool(given["image"]))
    found = None if name is None else find_containers(name)
    if found is None:
        return _new(subject, name, host, program, given)
    _refuse_options(found.plan.name, given)
    return shell_in_job(found, host, program, warn=lambda text: click.echo(f"! {text}", err=True))


@contextmanager
def _new(
    subject: str | None, name: str | None, host: str, program: "ShellProgram", given: dict[str, Any]
) -> "Iterator[ProcessStreams]":
    """A new container. `name`: the ended job that it is for."""
    from smlocal.api.shell import shell_in_new_container
    from smlocal.cli.terminal.screen import Screen
    from smlocal.sagemaker.jobfile.job_file import JobFile
    from smlocal.sagemaker.processing.job_file import ProcessingFile

    screen = Screen(output_to=sys.stderr.fileno(), mode=chosen_mode(None, quiet=False))
    if name is None:
        job, name = read_job_options({**given, "job": subject})
    else:
        from smlocal.api.recorded_job import read_recorded

        overrides, defaults = overrides_and_defaults(given)
        overrides["name"] = overrides["name"] or name
        job, name = read_recorded(name, overrides, defaults=defaults, strict=given["strict"])
        if isinstance(job, JobFile | ProcessingFile):
            screen.warning(f"{name} has kept no container: this is a new one, as it was before the job began")
    if not isinstance(job, JobFile | ProcessingFile):
        raise click.UsageError(
            "A new container is made for CreateTrainingJob requests only. Other jobs have a shell while they run, and "
            "afterwards with smlocal run --keep all."
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
