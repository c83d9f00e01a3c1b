"""Text at the width of a terminal, of any width."""

import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit import Run

from smlocal.cli.terminal.layout import row

WORDS = st.lists(st.text("abcxyz-/.", min_size=1, max_size=12), max_size=30).map(" ".join)


@given(head=st.integers(0, 60).map(lambda size: "h" * size), text=WORDS, width=st.integers(1, 200))
def test_every_word_is_in_a_row_and_no_line_with_room_is_too_long(head: str, text: str, width: int) -> None:
    lines = [*row(head, text, width=width)]
    assert " ".join("\n".join(lines).removeprefix(head).split()) == text
    for line in lines:
        assert len(line) <= max(width, 24 + 2) or len(line) <= len(head), lines


def test_texts_of_a_row_stand_below_each_other() -> None:
    assert [*row("Reason      ", "one two three four five six seven", width=38)] == [
        "Reason      one two three four five",
        "            six seven",
    ]
    assert [*row("head ", "first\nsecond", width=None)] == ["head first", "     second"]
    assert [*row("a long head   ", "one two three four five six", width=30)] == [
        "a long head",
        "  one two three four five six",
    ]


def test_nothing_is_wrapped_without_a_terminal() -> None:
    text = "word " * 100 + "end"
    assert [*row("head  ", text, width=None)] == [f"head  {text}"]


def on_a_terminal(columns: int, home: Path, *arguments: str) -> str:
    """What a command shows on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, columns))
    environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    process = subprocess.Popen(
        [sys.executable, "-m", "smlocal", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "SMLOCAL_HOME": str(home), "TERM": "xterm", "NO_COLOR": "1", "SMLOCAL_PAGER": ""},
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # what Linux says when the last process has closed it
        pass
    assert process.wait(60) in {0, 2}
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [10, 80, *(pytest.param(each, marks=pytest.mark.slow(1)) for each in (40, 200))])
@pytest.mark.parametrize(
    "arguments",
    [
        ("describe", "long"),
        ("describe", "absent"),
        ("run", "--imgae", "x", "job.yaml"),
        ("help", "engine-remote"),
        ("help", "job-names"),
        ("jobs",),
        ("--help",),
        ("run", "--help"),
    ],
    ids=" ".join,
)
def test_commands_at_any_width(
    columns: int, arguments: tuple[str, ...], tmp_path: Path, remember: Callable[..., None]
) -> None:
    reason = f"AlgorithmError: {'words of the reason ' * 20}, exit code: 1"
    local = {"Notes": [{"Id": "x", "Text": "a difference in many words " * 9, "Warning": False}]}
    remember("long", reason=reason, local=local)
    shown = on_a_terminal(columns, tmp_path, *arguments)
    assert "Traceback" not in shown
    if columns == 80 and arguments[0] != "help":
        # Only what has no space, such as a path, may be longer.
        assert not [line for line in shown.splitlines() if len(line) > 80 and " " in line[40:80].strip()], shown
    if arguments == ("describe", "long"):
        assert " ".join(reason.split()) in " ".join(shown.split())


def test_a_pipe_gets_whole_lines(remember: Callable[..., None], smlocal: Run) -> None:
    reason = f"AlgorithmError: {'words of the reason ' * 20}, exit code: 1"
    remember("long", reason=reason)
    assert re.search(rf"^Reason +{re.escape(reason)}$", smlocal("describe", "long").stdout, re.MULTILINE)


def test_a_head_without_a_text_is_one_line_at_any_width() -> None:
    for width in (None, 10, 40, 200):
        assert [*row("Differences from the service", "", width=width)] == ["Differences from the service"]


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("columns", [72, 80, 100])
def test_the_id_of_an_error_is_on_its_first_line(columns: int, tmp_path: Path) -> None:
    first = on_a_terminal(columns, tmp_path, "help", "zzzzzz").splitlines()[0]
    assert first.startswith("error: ")
    assert first.endswith("[usage]")
    assert len(first) <= columns
    short = on_a_terminal(columns, tmp_path, "describe", "zzzzzz").splitlines()[0]
    assert short.endswith("[job-unknown]")
    assert len(short) <= columns
