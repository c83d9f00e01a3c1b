"""The line at the bottom: the bytes that draw and delete it. tests/doors/cli shows it in a terminal."""

import fcntl
import os
import pty
import struct
import termios
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.cli.terminal.bottom_line import BottomLine
from smlocal.cli.terminal.layout import columns_of_text, shortened_to_columns

ERASE = b"\r\x1b[J"
BELOW = b"\x1bD\x1b[A\x1b7\ntime\x1b8"
ERASE_BELOW = b"\x1b7\n" + ERASE + b"\x1b8"


@pytest.fixture
def terminal() -> Iterator[int]:
    """A terminal of twenty columns."""
    outside, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 20, 0, 0))
    yield inside
    os.close(outside)
    os.close(inside)


def test_it_goes_away_before_output_and_comes_back(terminal: int) -> None:
    line = BottomLine(terminal, live=True)
    assert line.change("time") == b"time\r"
    assert line.change("time") == b""
    assert line.around(b"output\n") == (ERASE, b"time\r")
    assert line.change("") == ERASE
    assert line.around(b"output\n") == (b"", b"")


def test_below_a_line_that_grows_it_stays(terminal: int) -> None:
    line = BottomLine(terminal, live=True)
    line.change("time")
    assert line.around(b"\r10%") == (ERASE, BELOW)
    assert line.around(b"\r\x1b[32m20%\x1b[0m") == (b"", b"")
    assert line.around(b"\ndone\n") == (ERASE_BELOW, b"time\r")


@pytest.mark.parametrize(
    "growing", [b"x" * 20, "界".encode() * 10, b"up\x1b[A", b"tab\t", b"half \xe7\x95", b"\x1b[3"], ids=repr
)
def test_it_is_not_below_a_line_that_may_not_be_one_row(growing: bytes, terminal: int) -> None:
    line = BottomLine(terminal, live=True)
    line.change("time")
    assert line.around(b"short") == (ERASE, BELOW)
    assert line.around(b"\r" + growing) == (ERASE_BELOW, b"")
    assert line.around(b"\n") == (b"", b"time\r")


def test_what_was_not_written_is_not_there(terminal: int) -> None:
    line = BottomLine(terminal, live=True)
    line.change("time")
    line.around(b"output\n")
    line.cut_off(b"", b"out")
    assert line.line == b"out"
    assert line.around(b"put\n") == (b"", b"time\r")


def test_it_never_takes_two_rows(terminal: int) -> None:
    line = BottomLine(terminal, live=True)
    assert line.change("x" * 30) == b"x" * 18 + "…\r".encode()
    assert BottomLine(terminal, live=False).change("time") == b""


@given(st.text(max_size=30), st.integers(min_value=1, max_value=20))
def test_a_shortened_text_fits(text: str, room: int) -> None:
    assert columns_of_text(shortened_to_columns(text, room)) <= room
