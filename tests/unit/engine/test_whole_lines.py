"""Pieces of two streams become lines, and no line has anything of the other stream."""

from hypothesis import given
from hypothesis import strategies as st

from smlocal.engine.output import MOST_HELD, WholeLines

PIECES = st.lists(st.tuples(st.sampled_from([1, 2]), st.text("ab\n\r", max_size=5).map(str.encode)))


def merged(pieces: list[tuple[int, bytes]]) -> bytes:
    lines = WholeLines()
    return b"".join([*(lines.take([piece]) for piece in pieces), lines.rest()])


@given(PIECES)
def test_each_stream_has_its_lines_in_order(pieces: list[tuple[int, bytes]]) -> None:
    marked = [(stream, data.replace(b"a", b"%d" % stream).replace(b"b", b"%d" % stream)) for stream, data in pieces]
    found = merged(marked).split(b"\n")
    assert not [line for line in found if b"1" in line and b"2" in line]
    for stream in (1, 2):
        mark = b"%d" % stream
        written = b"".join(data for number, data in marked if number == stream)
        assert [line for line in found if mark in line] == [line for line in written.split(b"\n") if mark in line]


@given(PIECES)
def test_the_pieces_may_come_together_or_one_by_one(pieces: list[tuple[int, bytes]]) -> None:
    lines = WholeLines()
    assert lines.take(pieces) + lines.rest() == merged(pieces)


@given(st.lists(st.binary(max_size=5)))
def test_a_single_stream_is_byte_for_byte(pieces: list[bytes]) -> None:
    assert merged([(1, piece) for piece in pieces]) == b"".join(pieces)


def test_a_line_is_held_until_its_end() -> None:
    lines = WholeLines()
    assert lines.take([(1, b"loss=0.")]) == b""
    assert lines.take([(2, b"\r 1%"), (2, b"\r 2%")]) == b""
    assert lines.take([(1, b"5\nlo")]) == b"loss=0.5\n"
    assert lines.take([(2, b"\n")]) == b"\r 1%\r 2%\n"
    assert lines.rest() == b"lo"
    assert lines.rest() == b""


def test_last_lines_without_an_end_are_not_joined() -> None:
    assert merged([(2, b"a"), (1, b"b")]) == b"a\nb"


def test_a_stream_without_newlines_is_held_up_to_a_limit() -> None:
    lines = WholeLines()
    piece = b"x" * 4096
    # 100 MB, of which at most a megabyte is held; joining it anew for each piece would take minutes.
    passed, held = 0, 0
    for _ in range(25_000):
        passed += len(lines.take([(1, piece)]))
        held += len(piece)
        assert held - passed <= MOST_HELD
    assert lines.take([(1, b"end\n")]) == b"end\n"
    assert lines.rest() == b""


def test_the_other_stream_ends_a_line_that_is_too_long_to_hold() -> None:
    lines = WholeLines()
    long = b"x" * (MOST_HELD + 1)
    assert lines.take([(1, long)]) == long
    assert lines.take([(2, b"b")]) == b""
    assert lines.take([(1, b"y")]) == b"y"
    assert lines.take([(2, b"b\n")]) == b"\nbb\n"
    assert lines.take([(1, b"z")]) == b""
    assert lines.take([(1, b"z\n")]) == b"zz\n"
    assert lines.take([(1, long), (2, b"c")]) == long
    assert lines.take([(2, long)]) == b"\nc" + long
    assert lines.take([(1, b"a")]) == b""
    assert lines.rest() == b"\na"
