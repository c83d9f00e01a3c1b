import click
import pytest
from click.shell_completion import CompletionItem

from smlocal.cli.command_table import COMMANDS, load_command
from smlocal.cli.main import cli

WIDE = 1000


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_a_command_what_its_own_help_begins_with(name: str) -> None:
    assert load_command(name).get_short_help_str(WIDE) == COMMANDS[name]


@pytest.mark.parametrize("width", [40, 60, 80, 110])
def test_the_list_is_the_one_that_click_would_make(width: int) -> None:
    loaded = click.HelpFormatter(width=width)
    listed = click.HelpFormatter(width=width)
    context = click.Context(cli)
    click.Group.format_commands(cli, context, loaded)
    cli.format_commands(context, listed)
    assert listed.getvalue() == loaded.getvalue()


@pytest.mark.parametrize("incomplete", ["", "r", "re", "--", "x"])
def test_names_are_completed_as_click_would(incomplete: str) -> None:
    def shown(items: list[CompletionItem]) -> list[tuple[str, str | None]]:
        return [(each.value, each.help) for each in items]

    context = click.Context(cli)
    assert shown(cli.shell_complete(context, incomplete)) == shown(click.Group.shell_complete(cli, context, incomplete))
