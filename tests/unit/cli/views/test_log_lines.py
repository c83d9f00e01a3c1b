from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.cli.views.log_lines import LogLines
from smlocal.jobs.logs.log_file import TimesFile
from smlocal.jobs.logs.log_readers import LogTimes
from smlocal.terms.log_view import view_of

FIRST, SECOND, UNKNOWN = b"2023-11-14T22:13:20.123Z ", b"2023-11-14T22:13:21.000Z ", b"unknown                  "


def shown(lines: LogLines, *pieces: bytes) -> bytes:
    position, parts = 0, []
    for piece in pieces:
        parts.append(lines.feed(piece, position))
        position += len(piece)
    return b"".join([*parts, lines.end()])


def test_one_host_has_nothing_in_front() -> None:
    assert shown(LogLines(), b"a\tb\n\x1b[1mc") == b"a#011b\n#033[1mc"
    assert shown(LogLines(raw=True), b"a\tb\n\xff\x1b[1mc\r") == b"a\tb\n\xff\x1b[1mc\r"


@pytest.mark.parametrize("pieces", [(b"a\nb\n\nc",), (b"a", b"\n", b"b\n", b"\n", b"c")])
def test_several_hosts_have_a_mark_before_each_line(pieces: tuple[bytes, ...]) -> None:
    assert shown(LogLines(prefix=b"algo-1 | "), *pieces) == b"algo-1 | a\nalgo-1 | b\nalgo-1 | \nalgo-1 | c\n"


def test_half_a_character_at_the_end_is_shown(tmp_path: Path) -> None:
    assert shown(LogLines(), b"x\xe2\x82") == "x\ufffd".encode()
    assert shown(LogLines(prefix=b"m "), b"x\n\xe2\x82") == "m x\nm \ufffd\n".encode()
    assert shown(LogLines(times=LogTimes(f"{tmp_path}/none")), b"\xe2") == UNKNOWN + "\ufffd\n".encode()


@pytest.fixture
def times(tmp_path: Path) -> LogTimes:
    """Two bytes whose time nobody knows, then five, then others."""
    file = TimesFile(f"{tmp_path}/algo-1.times")
    for position, at in ((0, None), (2, 1_700_000_000.1234), (7, 1_700_000_001.0)):
        file.note(position, at)
    file.close()
    times = LogTimes(f"{tmp_path}/algo-1.times")
    times.renew()
    return times


@pytest.mark.parametrize("pieces", [(b"a\nbbb\nc\tc\nd",), tuple(b"%c" % code for code in b"a\nbbb\nc\tc\nd")])
def test_each_line_has_the_time_of_its_first_byte(pieces: tuple[bytes, ...], times: LogTimes) -> None:
    lines = LogLines(prefix=b"algo-1 | ", times=times)
    mark = b"algo-1 | "
    assert shown(lines, *pieces) == b"".join(
        (UNKNOWN, mark, b"a\n", FIRST, mark, b"bbb\n", FIRST, mark, b"c#011c\n", SECOND, mark, b"d\n")
    )


@given(st.lists(st.binary(max_size=5).map(lambda data: data.replace(b"\x01", b"\n")), max_size=20), st.booleans())
def test_marks_and_pieces_change_nothing_else(pieces: list[bytes], raw: bool) -> None:
    written = b"".join(pieces)
    plain = written if raw else view_of(written).encode()
    assert shown(LogLines(raw=raw), *pieces) == plain
    marked = shown(LogLines(raw=raw, prefix=b"> "), *pieces)
    lines = plain.split(b"\n")
    assert marked == b"".join(b"> " + line + b"\n" for line in (lines if lines[-1] else lines[:-1]))
