"""`smlocal shell`: look around in the container of a job."""

from typing import Any

import click
from click.shell_completion import CompletionItem

from smlocal.api.job_names import completed_names
from smlocal.cli.described_documents import allow_local_paths_option
from smlocal.cli.job_options import override_options
from smlocal.cli.shown_help import ShownCommand, shown_command, shown_option
from smlocal.jobfile.option import Head

_COMMAND = "smlocal.shell.command"


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
    from smlocal.cli.opening import open_shell

    return open_shell(subject, host, click.get_current_context().meta[_COMMAND], given)
