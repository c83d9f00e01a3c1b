from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from smlocal.data.channels.fastfile.filesystem import CELL, CHUNK, SLACK, WINDOW, Sequence

GIB = 1 << 30


def read_through(sequence: Sequence, *, size: int, step: int, upto: int, share: int = WINDOW) -> list[tuple[int, int]]:
    """Read from the beginning and do all that is wished for."""
    asked = []
    for start in range(0, upto, step):
        end = min(size, start + step)
        if sequence.read(start, end):
            pieces = sequence.pieces(size, share)
            asked += pieces
            sequence.planned = max([sequence.planned, *(last for _, last in pieces)])
    return asked


def test_the_first_read_asks_for_nothing_more() -> None:
    assert not Sequence().read(0, CELL)


def test_who_reads_on_gets_more_and_more_ahead() -> None:
    sequence = Sequence()
    read_through(sequence, size=GIB, step=CELL, upto=1 << 20)
    early = sequence.planned - sequence.tail
    assert 0 < early <= 3 << 20
    asked = read_through(sequence, size=GIB, step=CELL, upto=64 << 20)
    assert WINDOW <= sequence.planned - sequence.tail <= WINDOW + CHUNK
    assert max(end - start for start, end in asked) == CHUNK


def test_a_slow_s3_is_asked_for_little_at_a_time() -> None:
    sequence = Sequence()
    sequence.read(0, 32 << 20)
    sequence.read(32 << 20, 33 << 20)
    pieces = sequence.pieces(GIB, WINDOW, 600 << 10)
    assert max(end - start for start, end in pieces) == 512 << 10
    assert pieces[-1][1] <= (33 << 20) + 9 * (600 << 10)
    assert sequence.pieces(GIB, WINDOW, 10)[0] == (33 << 20, (33 << 20) + CELL)


def test_many_who_share_the_memory_still_ask_for_pieces_worth_asking_for() -> None:
    asked = read_through(Sequence(), size=GIB, step=CELL, upto=32 << 20, share=2 << 20)
    assert max(end - start for start, end in asked) == 1 << 20
    assert min(end - start for start, end in asked[20:]) == 1 << 20


def test_who_jumps_gets_nothing_ahead() -> None:
    sequence = Sequence()
    for number in range(100):
        start = number * 7_919 * SLACK % GIB
        assert not sequence.read(start, start + 4096)


def test_reads_that_come_out_of_order_are_a_sequence_still() -> None:
    sequence = Sequence()
    assert not sequence.read(0, CELL)
    for start in (3 * CELL, CELL, 2 * CELL, 4 * CELL):
        assert sequence.read(start, start + CELL)
    assert sequence.run == 5 * CELL


def test_a_jump_begins_anew() -> None:
    sequence = Sequence()
    read_through(sequence, size=GIB, step=CELL, upto=64 << 20)
    assert not sequence.read(512 << 20, (512 << 20) + CELL)
    assert sequence.read((512 << 20) + CELL, (512 << 20) + 2 * CELL)
    pieces = sequence.pieces(GIB, WINDOW)
    assert pieces[0][0] == (512 << 20) + 2 * CELL
    assert sum(end - start for start, end in pieces) <= 4 * CELL


@given(
    size=st.integers(1, 200 << 20),
    step=st.integers(4096, 1 << 20),
    share=st.integers(1 << 20, WINDOW),
)
def test_everything_is_asked_for_once_and_within_the_object(size: int, step: int, share: int) -> None:
    asked = read_through(Sequence(), size=size, step=step, upto=size, share=share)
    for (_, end), (start, _) in pairwise(asked):
        assert end <= start
    for start, end in asked:
        assert start < end <= size
        assert end - start <= CHUNK
        assert end == size or end % CELL == 0
