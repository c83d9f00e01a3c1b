"""Unfinished lines on a terminal, which lines of the other stream never fall into."""

import fcntl
import os
import pty
import struct
import termios
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.cli.terminal.bottom_line import LiveLines

WIPE = b"\r\x1b[K"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal of twenty columns."""
    monkeypatch.setenv("TERM", "xterm")
    outside, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 20, 0, 0))
    yield inside
    os.close(outside)
    os.close(inside)


@given(st.lists(st.binary(max_size=5).map(lambda data: data.replace(b"\0", b"\n"))))
def test_a_single_stream_is_shown_byte_for_byte(pieces: list[bytes]) -> None:
    lines = LiveLines(-1)
    assert b"".join([*(lines.take([(1, piece)]) for piece in pieces), lines.rest()]) == b"".join(pieces)


def test_a_progress_bar_comes_back_below_what_the_other_stream_prints(terminal: int) -> None:
    lines = LiveLines(terminal)
    assert lines.take([(2, b"\r 1%")]) == b"\r 1%"
    assert lines.take([(2, b"\r 2%")]) == b"\r 2%"
    assert lines.take([(1, b"loss=0.5\n")]) == WIPE + b"loss=0.5\n 2%"
    assert lines.take([(2, b"\r 3%")]) == b"\r 3%"
    assert lines.take([(2, b"\n")]) == b"\n"
    assert lines.take([(1, b"end\n")]) == b"end\n"
    assert lines.rest() == b""


def test_of_two_unfinished_lines_the_one_that_grows_is_shown(terminal: int) -> None:
    lines = LiveLines(terminal)
    assert lines.take([(1, b"loss="), (2, b"bar")]) == b"loss=" + WIPE + b"bar"
    assert lines.take([(1, b"0.5\n")]) == WIPE + b"loss=0.5\nbar"
    assert lines.take([(1, b"more")]) == WIPE + b"more"
    assert lines.rest() == b"\nbar"
    assert lines.take([(2, b"next")]) == b"next"


def test_what_a_carriage_return_has_gone_back_over_does_not_come_back(terminal: int) -> None:
    lines = LiveLines(terminal)
    assert lines.take([(2, b" 1%\r"), (2, b" 2%\r")]) == b" 1%\r 2%\r"
    assert lines.take([(1, b"a\n")]) == WIPE + b"a\n 2%\r"


@pytest.mark.parametrize("line", [b"x" * 20, b"tab\t"])
def test_a_line_that_may_need_two_rows_is_left_as_it_is(line: bytes, terminal: int) -> None:
    lines = LiveLines(terminal)
    assert lines.take([(2, line), (1, b"a\n")]) == line + b"\na\n" + line


def test_a_dumb_terminal_wipes_nothing(terminal: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert LiveLines(terminal).take([(2, b"bar"), (1, b"a\n")]) == b"bar\na\nbar"


def test_of_a_line_without_an_end_little_is_kept(terminal: int) -> None:
    lines = LiveLines(terminal)
    for _ in range(100):
        lines.take([(2, b"x" * 4096)])
    assert lines.take([(1, b"a\n")]) == b"\na\n" + b"x" * 4096
