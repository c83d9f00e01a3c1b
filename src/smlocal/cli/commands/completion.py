"""`smlocal completion`: what makes a shell complete smlocal's commands, flags, job names and rules."""

import click
from click.shell_completion import ShellComplete, get_completion_class

from smlocal.cli.main import cli

_SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS), metavar="SHELL")
def command(*, shell: str) -> None:
    """Print a script for completion in bash, zsh or fish.

    It completes commands, flags, names of jobs, and the rules of check.

    \b
      bash   echo 'eval "$(smlocal completion bash)"' >>~/.bashrc
      zsh    echo 'eval "$(smlocal completion zsh)"' >>~/.zshrc
      fish   smlocal completion fish >~/.config/fish/completions/smlocal.fish
    """  # noqa: D301 - \b is click's mark for text not to be wrapped
    kind = get_completion_class(shell)
    if kind is None:
        raise AssertionError(shell)
    # Not `source` of the class itself, which starts a bash to ask for its version.
    click.echo(ShellComplete.source(kind(cli, {}, "smlocal", "_SMLOCAL_COMPLETE")))
