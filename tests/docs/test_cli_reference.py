from collections.abc import Callable

import click
import pytest

from smlocal.cli.main import cli

CONTEXT = click.Context(cli, **cli.context_settings)
COMMANDS = cli.list_commands(CONTEXT)


def command_of(name: str) -> click.Command:
    command = cli.get_command(CONTEXT, name)
    assert isinstance(command, click.Command)
    return command


def signature(parameter: click.Parameter) -> str:
    """How the page writes an option: `-n, --limit N`, `--pull missing/always/never`, `--json`, `NAME...`."""
    context = click.Context(click.Command("any"))
    if isinstance(parameter, click.Argument):
        return parameter.make_metavar(context).strip("[]")
    assert isinstance(parameter, click.Option)
    # Short names first, as --help shows them.
    names = ", ".join(sorted(parameter.opts, key=len))
    if parameter.is_flag or parameter.is_eager:
        return names
    if isinstance(parameter.type, click.Choice):
        return f"{names} {'/'.join(parameter.type.choices)}"
    return f"{names} {parameter.metavar or 'N'}"


def visible(command: click.Command) -> list[click.Parameter]:
    """Not --debug, which every command takes as smlocal itself does."""
    return [each for each in command.params if not (isinstance(each, click.Option) and each.hidden)]


def documented(table: list[list[str]]) -> list[str]:
    return [row[0].strip("`") for row in table]


def test_every_command_is_documented_and_no_other(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    parts = sections(page("cli.md"))
    assert [heading for heading in parts if heading.startswith("smlocal ")] == [f"smlocal {n}" for n in COMMANDS]
    listed = [row[0] for row in rows(parts["smlocal"]) if row[0].startswith("[")]
    assert listed == [f"[`{name}`](#smlocal-{name})" for name in COMMANDS]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_stands_under_its_command_and_no_other(
    name: str,
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    table = rows(sections(page("cli.md"))[f"smlocal {name}"])
    assert documented(table) == [signature(parameter) for parameter in visible(command_of(name))]
    assert all(row[1] for row in table)


def test_the_options_of_smlocal_itself(
    page: Callable[[str], str],
    sections: Callable[[str], dict[str, str]],
    rows: Callable[[str], list[list[str]]],
) -> None:
    table = [row for row in rows(sections(page("cli.md"))["smlocal"]) if not row[0].startswith("[")]
    assert documented(table) == [signature(parameter) for parameter in cli.get_params(CONTEXT)]
