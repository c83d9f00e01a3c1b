import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.cli.terminal.printable import SafeOutput, chosen_changes, own_lines


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"plain \xc3\xa9\ttab\r50%\r\n", b"plain \xc3\xa9\ttab\r50%\r\n"),
        (b"\x1b[1;31mred\x1b[0m\x1b[m\x1b[38:2:1:2:3mx", b"\x1b[1;31mred\x1b[0m\x1b[m\x1b[38:2:1:2:3mx"),
        (b"\x1b]52;c;aGFoYQ==\x07", b"\\x1b]52;c;aGFoYQ==\\x07"),
        (b"\x1b]0;title\x1b\\", b"\\x1b]0;title\\x1b\\"),
        (b"\x1b[2J\x1b[1A\x1b[?1049h\x1bc", b"\\x1b[2J\\x1b[1A\\x1b[?1049h\\x1bc"),
        (b"\x08\x0b\x0c\x00\x7f", b"\\x08\\x0b\\x0c\\x00\\x7f"),
        (b"\xc2\x9b2J", b"\\x9b2J"),
        (b"\x9b2J \xff", b"\\x9b2J \\xff"),
        ("\u202eturned\u2069".encode(), b"\\u202eturned\\u2069"),
    ],
)
def test_only_text_and_colours_pass(written: bytes, shown: bytes) -> None:
    assert SafeOutput().feed(written) == shown
    in_bytes = SafeOutput()
    assert b"".join(in_bytes.feed(bytes((each,))) for each in written) == shown


@given(
    pieces=st.lists(st.binary(max_size=8) | st.sampled_from([b"\x1b", b"[", b"31", b"m", b"]", b"\xc2"]), max_size=20)
)
def test_no_other_control_passes_in_any_pieces(pieces: list[bytes]) -> None:
    safe = SafeOutput()
    shown = b"".join(map(safe.feed, pieces)).decode()  # all of it is UTF-8
    without = shown
    for start in range(len(shown)):
        if shown[start] == "\x1b":
            sequence = shown[start:].partition("m")[0]
            assert all(each in "\x1b[0123456789;:" for each in sequence)
            assert sequence.startswith("\x1b[")
            without = without.replace(f"{sequence}m", "", 1)
    assert all(each in "\t\r\n" or (each >= " " and not "\x7f" <= each <= "\x9f") for each in without)


def test_streams_do_not_disturb_each_other(tmp_path: Path) -> None:
    read, write = os.pipe()
    changes = chosen_changes(safe=True, in_ci=True, descriptor=write)
    assert changes
    assert changes.apply("algo-1", 1, b"\x1b[3") == b""
    assert changes.apply("algo-1", 2, b"::error::x\n") == b": :error::x\n"
    assert changes.apply("algo-2", 1, b"1m\n") == b"1m\n"
    assert changes.apply("algo-1", 1, b"1m\n") == b"\x1b[31m\n"
    assert not chosen_changes(safe=False, in_ci=False, descriptor=write)
    with (tmp_path / "log").open("wb") as file:  # it is not the log of a build
        assert not chosen_changes(safe=False, in_ci=True, descriptor=file.fileno())
    os.close(read)
    os.close(write)


def test_own_lines_have_no_controls_but_colours() -> None:
    text = "\x1b[31merror:\x1b[0m \x1b]52;c;x\x07 \r\n\t::warning::x\n##[error]x"
    assert own_lines(text) == "\x1b[31merror:\x1b[0m \\x1b]52;c;x\\x07 \\r\n\t: :warning::x\n# #[error]x"
