"""The pages of the commands, which are made from the commands and scripts/pages/commands.yaml."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest
from pages import commands

COMMANDS = commands.command_names()


def options_of(command: click.Command) -> list[str]:
    """Not --debug, which every command takes as smlocal itself does, and not --help."""
    return [
        commands.signature(each)
        for each in command.params
        if isinstance(each, click.Option) and not each.hidden and "--help" not in each.opts
    ]


def parts_of(name: str) -> Iterator[tuple[str, click.Command, dict[str, Any]]]:
    """A command and those below it, with the heads of their sections."""
    command, more = commands.command_of(name), commands.OF_COMMAND.get(name, {})
    yield f"smlocal {name}", command, more
    if isinstance(command, click.Group):
        for below, each in command.commands.items():
            if not each.hidden:
                yield f"{name} {below}", each, more.get("commands", {}).get(below, {})


def test_the_list_has_every_command_and_the_options_of_smlocal(rows: Callable[[str], list[list[str]]]) -> None:
    table = [row[0] for row in rows(commands.commands_table())]
    assert table == [
        "`--debug`",
        "`--no-pager`",
        "`-V, --version`",
        *(f"[`{name}`](cli/{name}.md)" for name in COMMANDS),
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_a_command_has_its_options_with_a_text(
    name: str, sections: Callable[[str], dict[str, str]], rows: Callable[[str], list[list[str]]]
) -> None:
    parts = sections(commands.command_page(name))
    assert list(parts) == [head for head, _, _ in parts_of(name)]
    for head, command, _ in parts_of(name):
        table = rows(parts[head].replace("\\|", "/"))
        assert [row[0].strip("`") for row in table if "-" in row[0][:2]] == options_of(command), head
        assert all(row[1] for row in table), head
        assert f"    smlocal {head.removeprefix('smlocal ')} " in parts[head] or f"    {head}\n" in parts[head]


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_said_beside_the_help_is_about_what_there_is(name: str) -> None:
    for head, command, more in parts_of(name):
        assert more.keys() <= {"about", "arguments", "options", "commands"}, head
        arguments = {commands.signature(each) for each in command.params if isinstance(each, click.Argument)}
        assert {word for names in more.get("arguments", {}) for word in names.split(", ")} <= arguments, head
        long = {name for each in command.params if isinstance(each, click.Option) for name in each.opts}
        assert more.get("options", {}).keys() <= long, head
        assert set(more.get("commands", {})) <= set(getattr(command, "commands", {})), head


def test_what_is_said_of_several_commands_is_about_options_that_there_are() -> None:
    parts = [command for name in COMMANDS for _, command, _ in parts_of(name)]
    long = {name for each in parts for option in each.params for name in option.opts}
    assert commands.OF_COMMAND.keys() <= {*COMMANDS}
    assert (commands.SHARED.keys() | commands.SEE.keys()) <= long
    assert not commands.SHARED.keys() & commands.SEE.keys()


def test_links_lead_out_of_the_folder_of_the_pages() -> None:
    page = commands.command_page("run")
    assert "](../run.md)" in page
    assert [link for link in re.findall(r"\]\(([^)]+)\)", page) if not link.startswith("../")] == []
