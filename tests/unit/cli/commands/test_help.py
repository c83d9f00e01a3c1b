import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from smlocal import errors
from smlocal.check.interface import Rule
from smlocal.check.registry import all_rules
from smlocal.cli.command_table import COMMANDS, SYNONYMS
from smlocal.cli.commands.help import error_pages, note_pages
from smlocal.cli.commands.run import EXIT_CODES
from smlocal.cli.help_topics import TOPICS
from smlocal.cli.main import run_command_line
from smlocal.cli.terminal.links import DOCUMENTATION
from smlocal.debugger.rule_texts import rule_modules, rule_text


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line([*words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_fits_a_terminal(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "help", topic)
    assert text == TOPICS[topic]
    assert max(map(len, text.splitlines())) <= 80


def test_all_exit_codes_of_a_job_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    listed = [line.split()[0] for line in shown(capsys, "help", "exit-codes").splitlines() if line[2:3].isdigit()]
    assert set(map(str, EXIT_CODES.values())) <= set(listed)
    assert listed == ["0", "1", "2", "3", "4", "124", "130", "143"]


def test_without_a_topic_and_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Topics: exit-codes" in shown(capsys, "help")
    assert shown(capsys, "help", "logs") == shown(capsys, "logs", "--help")


def test_a_topic_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["help", "exit-code"]) == 2
    assert "Did you mean 'exit-codes'?" in capsys.readouterr().err


def errors_below(base: type[errors.SmlocalError]) -> Iterator[type[errors.SmlocalError]]:
    yield base
    for below in base.__subclasses__():
        yield from errors_below(below)


@pytest.mark.slow(0.5)
def test_the_page_of_every_error(capsys: pytest.CaptureFixture[str]) -> None:
    for error in errors_below(errors.SmlocalError):
        text = shown(capsys, "help", error.id)
        assert text.startswith(f"{error.id}   exit code ")
        assert [line[:12].strip() for line in text.split("\n\n")[1].splitlines()] == [
            "It says",
            "Cause",
            "What to do",
            "More",
        ]
        assert f" {DOCUMENTATION}errors/#{error.id}\n" in text
        assert not [mark for mark in ("`", "](", " *") if mark in text], text


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("about", all_rules(), ids=lambda rule: rule.id)
def test_the_page_of_every_rule_of_check(about: Rule, capsys: pytest.CaptureFixture[str]) -> None:
    # An error of a run, and notes of jobs, have the same id as one of the rules.
    before = (about.id in error_pages()) + (about.id in note_pages())
    text = shown(capsys, "help", about.id).split("\n\n", maxsplit=2 * before)[-1]
    head, _, *rows = text.splitlines()
    assert head.startswith(f"{about.id}   {about.severity} of smlocal check")
    assert all(profile.option in head for profile in about.profiles)
    assert [line[:12].strip() for line in rows] == ["It finds", "Why", "What to do", "More"]
    assert about.title.replace("`", "") in rows[0]
    assert "](" not in text


def test_the_page_of_every_note(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(note_pages()) > 90
    for name, about in note_pages().items():
        text = shown(capsys, "help", name)
        kind = "warning" if about.meaning.startswith("Warning.") else "note"
        page = text[text.index(f"{name}   {kind} of a job\n\n") :]
        assert re.match(r"[^\n]+\n\nWhen        [^ ].+\nIt means    [^ ].+\nMore        http", page, flags=re.DOTALL), (
            name
        )
        assert not [mark for mark in ("`", "](") if mark in page], page
    assert shown(capsys, "help", "rules").startswith(shown(capsys, "rules", "--help"))


@pytest.mark.parametrize("topic", ["processing", "tuning", "transform", "endpoint", "gpu", "data", "ci"])
def test_a_topic_of_a_task_ends_with_the_address_of_its_page(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    last = shown(capsys, "help", topic).splitlines()[-1]
    page, _, anchor = last.removeprefix(f"More: {DOCUMENTATION}").partition("/")
    text = (Path(__file__).resolve().parents[4] / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert f"## {anchor.lstrip('#')}".lower() in text.lower() or not anchor


def test_a_name_of_an_error_and_of_a_rule_shows_both(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "help", "image-architecture")
    assert text.startswith("image-architecture   exit code 3\n")
    assert "\n\nimage-architecture   error of smlocal check\n" in text


def test_topics_and_commands_hide_no_error_and_no_rule() -> None:
    pages = {*error_pages(), *(rule.id for rule in all_rules())}
    assert not pages & {*TOPICS, *COMMANDS, *SYNONYMS}


def test_the_page_of_every_debugger_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(rule_modules()) > 15
    for name in rule_modules():
        text = shown(capsys, "help", name)
        assert text.startswith(f"{name}   debugger rule\n\n")
        assert text.endswith(f"\n\nParameters: {DOCUMENTATION}debugger-rules/#{name.lower()}\n")
        assert " ".join(rule_text(name).replace("`", "").split())[:60] in " ".join(text.split())


def test_a_debugger_rule_is_suggested_whatever_its_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["help", "lossnotdecreasing"]) == 2
    assert "Did you mean 'LossNotDecreasing'?" in capsys.readouterr().err


def test_a_similar_rule_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["help", "train-mising"]) == 2
    assert "Did you mean 'train-missing'?" in capsys.readouterr().err


def test_help_alone_lists_commands_and_topics(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "help")
    assert text.startswith(shown(capsys, "--help").rstrip("\n"))
    last = text.split("\n\n")[-1]
    assert all(topic in last for topic in TOPICS)


def test_an_error_names_its_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path))
    assert run_command_line(["describe", "absent"]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "  More: smlocal help job-unknown"
    assert "smlocal jobs --all" in shown(capsys, *last.split()[2:])


def test_a_page_names_the_other_pages(capsys: pytest.CaptureFixture[str]) -> None:
    assert f"write KEY=VALUE; {DOCUMENTATION}secrets/" in " ".join(shown(capsys, "help", "variable-unset").split())
    assert f"smlocal doctor ({DOCUMENTATION}doctor/)" in " ".join(shown(capsys, "help", "engine-unreachable").split())
    assert "smlocal <command> --help" in shown(capsys, "help", "usage")


@pytest.mark.parametrize("topic", ["bogus", "topics"])
def test_nothing_is_suggested_for_a_word_that_is_like_none(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["help", topic]) == 2
    assert "Did you mean" not in capsys.readouterr().err
