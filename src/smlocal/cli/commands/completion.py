"""`smlocal completion`: have a shell complete smlocal's commands, flags, job names and rules."""

import os

import click
from click.shell_completion import ShellComplete, get_completion_class

from smlocal.cli.completion_files import completion_files
from smlocal.cli.main import cli
from smlocal.cli.shown_help import shown_command

_SHELLS = ("bash", "zsh", "fish")


@shown_command(
    "completion",
    examples=(
        ("smlocal completion --install", "Install completion for your shell."),
        ("smlocal completion zsh", "Print the script for zsh."),
    ),
)
@click.argument("shell", required=False, type=click.Choice(_SHELLS), metavar="SHELL")
@click.option("--install", is_flag=True, help="Install the script, and the lines in the shell's startup file.")
@click.option("--uninstall", is_flag=True, help="Remove what --install wrote.")
@click.pass_context
def command(ctx: click.Context, *, shell: str | None, install: bool, uninstall: bool) -> None:
    """Print or install shell completion for bash, zsh or fish.

    It completes commands, flags, names of jobs, and the rules of check. With --install and --uninstall, SHELL is your
    login shell ($SHELL) if it is not given. Without them, the script is printed: a startup file can run
    eval "$(smlocal completion bash)".
    """
    if install and uninstall:
        raise click.UsageError("--install and --uninstall cannot be used together.")
    if not install and not uninstall:
        if shell is None:
            raise click.MissingParameter(ctx=ctx, param=ctx.command.params[0])
        click.echo(_script(shell))
        return

    shell = shell or _login_shell()
    files = completion_files(shell, os.environ)
    if uninstall:
        removed = files.remove()
        for path in removed:
            _say(f"removed the lines from {path}" if path == files.startup else f"removed {path}")
        if not removed:
            _say(f"completion for {shell} is not installed")
        return
    written = files.install(f"{_script(shell)}\n")
    for path in written:
        _say(f"added lines to {path}" if path == files.startup else f"wrote {path}")
    if not written:
        _say(f"completion for {shell} is installed already: {files.script}")
    _say(f"New shells complete smlocal. To undo: smlocal completion {shell} --uninstall")


def _say(line: str) -> None:
    click.echo(line, err=True)


def _script(shell: str) -> str:
    kind = get_completion_class(shell)
    if kind is None:
        raise AssertionError(shell)
    # Not `source` of the class itself, which starts a bash to ask for its version.
    return ShellComplete.source(kind(cli, {}, "smlocal", "_SMLOCAL_COMPLETE"))


def _login_shell() -> str:
    shell = os.path.basename(os.environ.get("SHELL", ""))
    if shell in _SHELLS:
        return shell
    about = f"There is no completion for {shell}" if shell else "The variable SHELL is not set"
    raise click.UsageError(f"{about}: name one of {', '.join(_SHELLS)}, such as smlocal completion bash --install.")
