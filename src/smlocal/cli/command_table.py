"""Which commands there are."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

COMMANDS = (
    *(
        "init",
        "run",
        "rerun",
        "plan",
        "validate",
        "check",
        "jobs",
        "describe",
        "logs",
        "metrics",
        "report",
        "wait",
        "stop",
        "interrupt",
        "publish",
        "pack",
    ),
    *("rm", "recover", "cache", "doctor", "config", "coverage", "schema", "completion", "help"),
)
"""In the order in which people need them."""


def load_command(name: str) -> "click.Command":
    """Import the module of a command; it has the command's name."""
    command: click.Command = import_module(f"smlocal.cli.commands.{name}").command
    return command
