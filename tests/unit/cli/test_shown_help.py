import shlex
from collections.abc import Iterator

import click
import pytest

from smlocal.cli.command_table import COMMANDS, load_command
from smlocal.cli.main import cli, run_command_line
from smlocal.cli.shown_help import ShownCommand, ShownGroup, ShownOption
from smlocal.jobfile.settings import OPTIONS

SPLIT = ("run", "rerun", "plan", "check", "reproduce", "submit", "shell")


def every_command() -> Iterator[tuple[tuple[str, ...], ShownCommand | ShownGroup]]:
    for name in COMMANDS:
        command = load_command(name)
        assert isinstance(command, ShownCommand | ShownGroup)
        yield (name,), command
        if isinstance(command, ShownGroup):
            for below, each in command.commands.items():
                assert isinstance(each, ShownCommand)
                yield (name, below), each


EVERY = dict(every_command())
EXAMPLES = sorted({line for command in (cli, *EVERY.values()) for line, _ in command.examples})  # type: ignore[attr-defined]


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line([*words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", EVERY, ids=" ".join)
def test_help_ends_with_examples_of_the_command(
    name: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    command = EVERY[name]
    last = shown(capsys, *name, "--help").split("\nExamples:\n")[1]
    assert [line.split("  ")[1] for line in last.splitlines() if line.startswith("  smlocal ")] == [
        line for line, _ in command.examples
    ]
    options = [each for each in command.params if not getattr(each, "hidden", False)]
    assert len(command.examples) in ((2, 3) if len(options) > 1 else (1, 2, 3))
    for line, says in command.examples:
        assert shlex.split(line)[: len(name) + 1] == ["smlocal", *name] or isinstance(command, ShownGroup)
        assert says in " ".join(last.split())
        assert says.endswith(".")


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_is_parsed(line: str) -> None:
    smlocal, *words = shlex.split(line)
    assert smlocal == "smlocal"
    context = click.Context(cli, info_name="smlocal")
    command: click.Command = cli
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
        context = click.Context(command, info_name=name, parent=context)
    assert command.make_context(command.name, words).params is not None


@pytest.mark.parametrize("columns", [40, 80, 110])
def test_a_command_line_is_never_broken(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for name, command in EVERY.items():
        lines = shown(capsys, *name, "--help").splitlines()
        for example, _ in command.examples:
            assert [line for line in lines if line.strip() == example or line.startswith(f"  {example}  ")], example


@pytest.mark.parametrize("name", SPLIT)
def test_common_options_are_shown_and_the_others_by_help_all(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    few, every = shown(capsys, name, "--help"), shown(capsys, name, "--help-all")
    options = [each for each in load_command(name).params if isinstance(each, click.Option) and not each.hidden]
    common = [each for each in options if isinstance(each, ShownOption) and each.common]
    assert 4 < len(common) <= 22
    assert len(options) > len(common)

    def in_(text: str) -> list[str]:
        words = {
            word.strip(",")
            for line in text.split("\nExamples:", maxsplit=1)[0].splitlines()
            for word in line.split()[:3]
        }
        return [each.opts[0] for each in options if set(each.opts) & words]

    assert in_(every) == [each.opts[0] for each in options]
    assert in_(few) == [each.opts[0] for each in common]
    for text in (few, every):
        assert text.index("--help-all  Show all options.") > text.index(" --")
        assert "\nOther options:" not in text


def test_help_all_is_told_only_where_help_leaves_something_out(capsys: pytest.CaptureFixture[str]) -> None:
    for name, command in EVERY.items():
        told = "--help-all" in shown(capsys, *name, "--help")
        assert told is (name[0] in SPLIT and not isinstance(command, click.Group))


def test_a_setting_is_declared_common_in_the_table_of_settings() -> None:
    run = {each.name: each for each in load_command("run").params if isinstance(each, ShownOption)}
    for keyword, option in OPTIONS.items():
        if keyword in run:
            assert (run[keyword].common, run[keyword].head) == (option.common, option.head)
    assert sum(option.common for option in OPTIONS.values()) > 10
