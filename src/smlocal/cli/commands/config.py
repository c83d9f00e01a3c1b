"""`smlocal config`: the defaults of flags, and where they come from."""

import json
import sys

import click

from smlocal.base.readable import short_path
from smlocal.cli.command_table import COMMANDS, load_command
from smlocal.cli.configuration import Setting, find_configuration, settings_of
from smlocal.cli.shown_help import shown_group
from smlocal.cli.terminal.layout import table, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable

_HEAD = ("KEY", "VALUE", "FROM", "FOR")
_SHRINKABLE = ((3, 8), (1, 12), (2, 12))


@shown_group("config", examples=(("smlocal config show", "Show every value."),))
def command() -> None:
    """Show the configuration file, which gives defaults to flags.

    smlocal.toml, or [tool.smlocal] in pyproject.toml, in the current folder or the nearest folder above. A flag on the
    command line and the job file override it.
    """


@command.command(
    "show",
    examples=(
        ("smlocal config show", "Show every value."),
        ("smlocal config show --json", "Print the values as JSON."),
    ),
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def show(*, as_json: bool) -> None:
    """Show each value of the configuration file with its origin."""
    configuration = find_configuration()
    found: dict[str, list[Setting]] = {}
    if configuration is not None:
        for name in COMMANDS:
            for setting in settings_of(configuration, name, load_command(name)):
                found.setdefault(setting.key, []).append(setting)
    path = None if configuration is None else configuration.path
    if as_json:
        values = [
            {"Key": key, "Value": same[0].value, "Origin": path, "Commands": [each.command for each in same]}
            for key, same in found.items()
        ]
        click.echo(json_without_commands(json.dumps({"Configuration": {"File": path, "Values": values}}, indent=2)))
    elif path is None:
        click.echo(
            "No configuration file: neither smlocal.toml nor [tool.smlocal] here or in a folder above.", err=True
        )
    else:
        rows = [
            (key, _shown(same[0].value), short_path(path), ", ".join(each.command for each in same))
            for key, same in found.items()
        ]
        for line in table([_HEAD, *rows], width=width_of(sys.stdout), shrinkable=_SHRINKABLE):
            click.echo(printable(line))


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
