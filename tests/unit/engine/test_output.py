import struct

from hypothesis import given
from hypothesis import strategies as st

from smlocal.engine.output import payloads

FRAMES = st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40)))


def framed(frames: list[tuple[int, bytes]]) -> bytes:
    return b"".join(struct.pack(">B3xI", stream, len(data)) + data for stream, data in frames)


@given(FRAMES, st.lists(st.integers(1, 30), max_size=60))
def test_payloads_are_the_same_however_the_reads_fall(frames: list[tuple[int, bytes]], sizes: list[int]) -> None:
    stream = framed(frames)
    reads: list[bytes] = []
    position = 0
    for size in [*sizes, len(stream)]:
        if position < len(stream):
            reads.append(stream[position : position + size])
            position += size
    pieces = list(payloads(reads))
    assert b"".join(pieces) == b"".join(data for _, data in frames)
    assert all(pieces)


def test_one_read_is_one_piece() -> None:
    assert list(payloads([framed([(1, b"a\n"), (2, b"b\n"), (1, b"c\n")])])) == [b"a\nb\nc\n"]


def test_what_came_of_a_frame_that_was_cut_off_is_kept() -> None:
    assert list(payloads([framed([(1, b"whole\n"), (1, b"half of it")])[:-3]])) == [b"whole\nhalf of"]


def test_a_payload_is_not_held_back_until_it_is_whole() -> None:
    data = framed([(1, b"x" * 100)])
    assert [len(piece) for piece in payloads([data[:20], data[20:60], data[60:]])] == [12, 40, 48]
