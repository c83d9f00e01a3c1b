import subprocess
import sys

import click
import pytest
from click.shell_completion import CompletionItem

from smlocal.cli.command_table import COMMANDS, HEADS, SYNONYMS, load_command
from smlocal.cli.main import cli, run_command_line


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """The lines under each head of `smlocal --help`."""
    assert run_command_line(["--help"]) == 0
    found: dict[str, list[str]] = {}
    for line in capsys.readouterr().out.splitlines():
        if line and not line.startswith(" "):
            head = line.rstrip(":")
        elif line:
            found.setdefault(head, []).append(line.strip())
    return found


def test_commands_stand_under_heads_with_one_line_each(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shown = listed(capsys)
    assert [head for head in shown if head in HEADS] == list(HEADS)
    for head, commands in HEADS.items():
        assert [line.split("  ")[0] for line in shown[head]] == list(commands)
    first = next(iter(HEADS.values()))
    assert len(first) == 5
    assert "run" in first


def test_no_command_stands_in_two_places() -> None:
    assert len(COMMANDS) == sum(map(len, HEADS.values()))
    assert not SYNONYMS.keys() & set(COMMANDS)


def test_the_list_says_what_the_commands_say_of_themselves() -> None:
    assert {name: load_command(name).get_short_help_str(200) for name in COMMANDS} == COMMANDS


@pytest.mark.slow(0.5)
def test_the_list_is_shown_without_a_command() -> None:
    code = """
import sys
from smlocal.cli.main import run_command_line
run_command_line(["--help"])
print(*(name for name in sys.modules if name.startswith("smlocal.cli.commands.")), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []


@pytest.mark.parametrize(
    ("word", "command"), [("ls", "jobs"), ("ps", "jobs"), ("list", "jobs"), ("delete", "rm"), ("remove", "rm")]
)
def test_a_synonym_runs(word: str, command: str) -> None:
    context = click.Context(cli, info_name="smlocal")
    name, found, rest = cli.resolve_command(context, [word, "--help"])
    assert (name, rest) == (command, ["--help"])
    assert found is not None
    assert found.name == command


def test_a_synonym_shows_the_same_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["jobs", "--help"]) == 0
    expected = capsys.readouterr().out
    for words in (["ls", "--help"], ["help", "ps"]):
        assert run_command_line(words) == 0
        assert capsys.readouterr().out == expected


def test_synonyms_of_the_commands_of_a_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["cache", "remove", "--help"]) == 0
    assert "Usage: smlocal cache rm " in capsys.readouterr().out
    assert run_command_line(["cache", "clear", "--help"]) == 0
    assert "Usage: smlocal cache rm " in capsys.readouterr().out
    assert run_command_line(["cache", "list", "--help"]) == 0
    assert "Usage: smlocal cache ls " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["start"], "'run'"),
        (["train"], "'run'"),
        (["kill", "x"], "'stop'"),
        (["lint"], "'check'"),
        (["version"], "'--version'"),
        (["clear"], "'rm'"),
        (["descrbe"], "'describe'"),
        (["cache", "rmm"], "'rm'"),
        (["conformance", "bild"], "'build'"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_suggests(words: list[str], meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(words) == 2
    said = capsys.readouterr().err
    assert f"Did you mean {meant}?" in said
    assert "[usage]" in said


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["run", "--data", "x"], "--channel"),
        (["run", "--hp", "x"], "--hyperparameter"),
        (["run", "--dry-run"], "smlocal plan"),
        (["run", "--hyperparameters", "x"], "--hyperparameter"),
        (["run", "--help-al"], "--help-all"),
        (["reproduce", "x", "--limit", "3"], "--sample"),
        (["--verion"], "--version"),
        (["cache", "ls", "--jsn"], "--json"),
    ],
    ids=" ".join,
)
def test_a_wrong_option_suggests(words: list[str], meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(words) == 2
    said = capsys.readouterr().err
    assert f"Did you mean {meant}?" in said
    assert "[usage]" in said


def test_an_option_of_other_commands_is_not_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["jobs", "--data", "x"]) == 2
    assert "Did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize("incomplete", ["", "r", "re", "--", "x"])
def test_names_are_completed_as_click_would(incomplete: str) -> None:
    def shown(items: list[CompletionItem]) -> list[tuple[str, str | None]]:
        return [(each.value, each.help) for each in items]

    context = click.Context(cli)
    assert shown(cli.shell_complete(context, incomplete)) == shown(click.Group.shell_complete(cli, context, incomplete))


def test_options_of_smlocal_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """Before a command, and after the name of any."""
    assert run_command_line(["-V"]) == 0
    assert capsys.readouterr().out.startswith("smlocal ")
    for words in (["--no-pager", "cache", "ls"], ["cache", "ls", "--no-pager"], ["cache", "ls", "--debug"]):
        assert run_command_line(words) == 0
