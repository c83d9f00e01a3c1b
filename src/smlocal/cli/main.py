"""The command line: its commands, and how errors are shown."""

import os
import sys
from typing import TYPE_CHECKING

import click

from smlocal.base.at_use import at_use
from smlocal.cli.command_table import COMMANDS, HEADS, OPTION_WORDS, load_command
from smlocal.cli.shown_help import HELP_NAMES, ShownGroup
from smlocal.cli.terminal.standard_streams import ReaderGoneError, discard_output, output_error
from smlocal.errors import SmlocalError, StandardOutputError, UsageRefusedError, WorkingDirectoryError
from smlocal.terms.validation.violation import closest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from smlocal.cli.terminal.errors import show_error
else:
    show_error = at_use("smlocal.cli.terminal.errors", "show_error")

_WITHOUT_FLAGS = ("cache", "config", "completion", "help")
"""Commands that read no configuration file, or read it by themselves."""
_LIKENESS = 0.7
"""Of two options. All of them begin with `--`, so any two are somewhat alike."""
_INTERRUPTED = 130
_WRONG_USAGE = 2


class Commands(ShownGroup):
    """Each command is in a module of its name, which is imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order in which they are usually needed."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command."""
        del ctx
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands under their heads, without loading them."""
        del ctx
        column = max(map(len, COMMANDS))
        for head, commands in HEADS.items():
            with formatter.section(head):
                formatter.write_dl([(f"{name:<{column}}", line) for name, line in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """Complete the name of a command, or an option before it; no command is loaded."""
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=click.Command(name, help=line).get_short_help_str())
            for name, line in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Give the command that is found the defaults of the configuration file."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None and not ctx.resilient_parsing and not {*rest} & {*HELP_NAMES}:
            self._read_configuration(ctx, name, command)
        return name, command, rest

    def _read_configuration(self, ctx: click.Context, name: str, command: click.Command) -> None:
        """Let the configuration file give defaults to the command's flags."""
        from smlocal.cli.configuration import find_configuration, settings_of

        configuration = None if name in _WITHOUT_FLAGS else find_configuration()
        if configuration is not None:
            settings = settings_of(configuration, name, command)
            ctx.default_map = {name: {each.parameter: each.value for each in settings}}


@click.command(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    examples=(
        ("smlocal run job.yaml", "Run the job of a CreateTrainingJob request."),
        ("smlocal run --image my-image --channel train=./data -p epochs=3", "Run a job without a file."),
        ("smlocal check my-image", "Check a training image."),
    ),
)
@click.option("--debug", is_flag=True, help="Show the traceback of errors.")
@click.option("--no-pager", is_flag=True, help="Do not show long output in a pager.")
@click.version_option(None, "-V", "--version", package_name="smlocal", message="smlocal %(version)s")
@click.pass_context
def cli(ctx: click.Context, *, debug: bool, no_pager: bool) -> None:
    """Run SageMaker training containers on this machine exactly as the service would.

    Exit codes: 0 Completed, 1 Failed, 2 refused request, 3 this machine is not ready, 4 Stopped, 124 wait timed out,
    130 stopped by Ctrl-C, 143 stopped by SIGTERM or SIGHUP.
    """
    ctx.obj = {"debug": debug, "no_pager": no_pager}
    if ctx.invoked_subcommand is None:
        from smlocal.cli.views.folder_overview import overview

        for line in overview():
            click.echo(line)


def run_command_line(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit code of the process."""
    words = sys.argv[1:] if arguments is None else arguments
    words = words[: words.index("--")] if "--" in words else words  # the rest is for other programs
    debug, as_json = "--debug" in words, "--json" in words
    try:
        return _with_output_error(_run(arguments), debug=debug)
    except StandardOutputError as error:
        discard_output()
        show_error(error, debug=debug, as_json=False)
        return error.exit_code
    except SmlocalError as error:
        show_error(error, debug=debug, as_json=as_json)
        return error.exit_code
    except Exception as error:
        if isinstance(error, FileNotFoundError) and not _folder_exists():
            gone = WorkingDirectoryError(
                "the current folder does not exist any more", remedy=["Go to a folder that exists, and try again."]
            )
            show_error(gone, debug=debug, as_json=as_json)
            return gone.exit_code
        if debug:
            raise
        defect = SmlocalError(
            f"unexpected error: {type(error).__name__}: {error}",
            remedy=[
                "This is a bug in smlocal. The same command with --debug shows the traceback.",
                "Please report it with the traceback, the command, and what smlocal doctor --report prints.",
            ],
        )
        show_error(defect, debug=False, as_json=as_json)
        return defect.exit_code


def _run(arguments: list[str] | None) -> int:
    try:
        code = cli.main(arguments, prog_name="smlocal", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return _WRONG_USAGE
    except click.ClickException as error:
        raise _refused(error, sys.argv[1:] if arguments is None else arguments) from error
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except ReaderGoneError:  # such as `head`: not an error
        discard_output()
        return 0
    return code if isinstance(code, int) else 0


def _with_output_error(code: int, *, debug: bool) -> int:
    """The exit code of the process, after showing why standard output could not be written."""
    error = output_error()
    if error is None:
        return code
    show_error(error, debug=debug, as_json=False)
    return code or error.exit_code


def _folder_exists() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def _refused(error: click.ClickException, words: list[str]) -> UsageRefusedError:
    """A mistake on the command line, as an error like all others."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = next((word for word in words if word in COMMANDS), "")
    where = f"smlocal {command}".strip() if context is None else context.command_path
    sentence = " ".join(error.format_message().split()).rstrip(".")
    if isinstance(error, click.NoSuchOption):
        meant = _meant_option(error)
        sentence = f"{error.message.rstrip('.')}{f'. Did you mean {meant}?' if meant else ''}"
    return UsageRefusedError(f"{sentence[:1].lower()}{sentence[1:]}", remedy=[f"Try '{where} --help'."])


def _meant_option(error: click.NoSuchOption) -> str | None:
    """The option that may be meant: one of the command that other tools call so, or a similar one."""
    known = [*(error.possibilities or ())]
    if error.ctx is not None:
        known += [name for each in error.ctx.command.get_params(error.ctx) for name in each.opts if name[:2] == "--"]
    here = (each for each in OPTION_WORDS.get(error.option_name, ()) if each in known or each.startswith("smlocal "))
    return next(here, None) or closest(error.option_name, known, likeness=_LIKENESS)
