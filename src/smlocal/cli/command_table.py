"""Which commands there are."""

from importlib import import_module

import click

COMMANDS = (
    *(
        "init",
        "demo",
        "run",
        "rerun",
        "plan",
        "validate",
        "check",
        "jobs",
        "describe",
        "logs",
        "shell",
        "metrics",
        "rules",
        "tensors",
        "report",
        "compare",
        "wait",
        "stop",
        "interrupt",
        "publish",
        "pack",
    ),
    "fetch",
    "reproduce",
    "submit",
    *("serve", "exec"),
    *("rm", "recover", "cache", "doctor", "config", "conformance", "coverage", "schema", "completion", "help"),
)
"""In the order in which people need them."""


def load_command(name: str) -> click.Command:
    """Import the module of a command; it has the command's name."""
    command: click.Command = import_module(f"smlocal.cli.commands.{name}").command
    _accept_debug(command)
    return command


def _accept_debug(command: click.Command) -> None:
    """Let --debug stand after the name of the command too. Only the help of smlocal itself shows it."""
    if any("--debug" in each.opts for each in command.params):
        return
    # Eager, as --help is: no option of the configuration file.
    option = click.Option(
        ["--debug"], is_flag=True, is_eager=True, hidden=True, expose_value=False, callback=_remember_debug
    )
    command.params.append(option)
    if isinstance(command, click.Group):
        for below in command.commands.values():
            _accept_debug(below)


def _remember_debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - as click calls it
    del parameter
    if value:
        context.ensure_object(dict)["debug"] = True
