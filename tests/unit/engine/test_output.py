import struct

from hypothesis import given
from hypothesis import strategies as st

from smlocal.engine.output import payloads

FRAMES = st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40)))


def framed(frames: list[tuple[int, bytes]]) -> bytes:
    return b"".join(struct.pack(">B3xI", stream, len(data)) + data for stream, data in frames)


@given(FRAMES, st.lists(st.integers(1, 30), max_size=60))
def test_payloads_are_the_same_however_the_reads_fall(frames: list[tuple[int, bytes]], sizes: list[int]) -> None:
    whole = framed(frames)
    reads: list[bytes] = []
    position = 0
    for size in [*sizes, len(whole)]:
        if position < len(whole):
            reads.append(whole[position : position + size])
            position += size
    pieces = [piece for each in payloads(reads) for piece in each]
    for stream in (1, 2):
        found = b"".join(piece for number, piece in pieces if number == stream)
        assert found == b"".join(payload for number, payload in frames if number == stream)
    assert b"".join(piece for _, piece in pieces) == b"".join(data for _, data in frames)
    assert all(data for _, data in pieces)


def test_a_read_may_hold_pieces_of_both_streams() -> None:
    frames = [(1, b"a\n"), (2, b"b\n"), (1, b"c\n")]
    assert list(payloads([framed(frames)])) == [frames]


def test_what_came_of_a_frame_that_was_cut_off_is_kept() -> None:
    frames = [(1, b"whole\n"), (1, b"half of it")]
    assert list(payloads([framed(frames)[:-3]])) == [[(1, b"whole\n"), (1, b"half of")]]


def test_a_payload_is_not_held_back_until_it_is_whole() -> None:
    data = framed([(1, b"x" * 100)])
    assert [len(piece) for ((_, piece),) in payloads([data[:20], data[20:60], data[60:]])] == [12, 40, 48]
