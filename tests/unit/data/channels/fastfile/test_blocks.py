"""The cache gives the bytes of the object whatever is read in whatever order, and never holds more than it may."""

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from errno import EIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit import examples, until

from smlocal.data.channels.fastfile.filesystem import CELL, Blocks

OBJECTS = [random.Random(number).randbytes(size) for number, size in enumerate((10, CELL, 3 * CELL + 5, 40 * CELL - 1))]
Fetch = Callable[[int, int, memoryview], None]


def fetch(file: int, start: int, buffer: memoryview) -> None:
    buffer[:] = OBJECTS[file][start : start + len(buffer)]


def read(blocks: Blocks, file: int, start: int, end: int) -> bytes:
    got = bytearray(b"?" * (end - start))

    def put(place: int, piece: memoryview) -> None:
        got[place : place + len(piece)] = piece

    blocks.read(file, start, end, len(OBJECTS[file]), put)
    return bytes(got)


def await_held(blocks: Blocks, count: int) -> None:
    until(lambda: blocks.held == count)


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[str, int, int, int]]:
    found = []
    for _ in range(draw(st.integers(1, 15))):
        file = draw(st.integers(0, len(OBJECTS) - 1))
        start = draw(st.integers(0, len(OBJECTS[file]) - 1))
        end = draw(st.integers(start + 1, min(len(OBJECTS[file]), start + 9 * CELL)))
        found.append((draw(st.sampled_from(["read", "read", "ahead", "leave"])), file, start, end))
    return found


@settings(max_examples=examples(60))
@given(steps(), st.sampled_from([4 * CELL, 12 * CELL, 100 * CELL]))
def test_any_sequence_of_reads_gives_the_bytes_of_the_objects(
    blocks_steps: list[tuple[str, int, int, int]], capacity: int
) -> None:
    blocks = Blocks(fetch, read_seconds=200, capacity=capacity)
    for what, file, start, end in blocks_steps:
        if what == "read":
            assert read(blocks, file, start, end) == OBJECTS[file][start:end]
        elif what == "ahead":
            blocks.fetch_ahead(file, start // CELL * CELL, end, len(OBJECTS[file]))
        else:
            blocks.cancel_ahead(file)
        # More than it may only while a read needs what could not be held beside what is on its way.
        assert blocks.held <= capacity + 10 * CELL


@pytest.mark.slow(0.5)
def test_many_readers_at_once_get_the_bytes_of_the_objects() -> None:
    blocks = Blocks(fetch, read_seconds=200, capacity=8 * CELL)

    def work(seed: int) -> int:
        chance = random.Random(seed)
        for _ in range(200):
            file = chance.randrange(len(OBJECTS))
            start = chance.randrange(len(OBJECTS[file]))
            end = min(len(OBJECTS[file]), start + chance.choice([1, 4096, CELL, 4 * CELL]))
            if chance.random() < 0.3:
                blocks.fetch_ahead(file, start // CELL * CELL, end, len(OBJECTS[file]))
            if read(blocks, file, start, end) != OBJECTS[file][start:end]:
                return 1
        return 0

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(work, range(16))) == 0


def test_what_is_held_is_not_fetched_again() -> None:
    asked = []

    def counted(file: int, start: int, buffer: memoryview) -> None:
        asked.append((file, start, len(buffer)))
        fetch(file, start, buffer)

    blocks = Blocks(counted, read_seconds=200)
    for _ in range(3):
        read(blocks, 3, 5 * CELL + 1, 6 * CELL + 2)
    read(blocks, 3, 6 * CELL, 8 * CELL)
    assert asked == [(3, 5 * CELL, 2 * CELL), (3, 7 * CELL, CELL)]


def test_two_who_want_the_same_wait_for_one_fetch() -> None:
    began, go_on = threading.Event(), threading.Event()
    asked = []

    def slow(file: int, start: int, buffer: memoryview) -> None:
        asked.append(start)
        began.set()
        assert go_on.wait(200)
        fetch(file, start, buffer)

    blocks = Blocks(slow, read_seconds=200)
    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read, blocks, 1, 0, 10) for _ in range(2)]
        assert began.wait(200)
        go_on.set()
        assert [reader.result() for reader in readers] == [OBJECTS[1][:10]] * 2
    assert asked == [0]


def test_a_failure_is_an_input_output_error_at_once_the_second_time_and_forgotten_then() -> None:
    broken = True
    asked = 0

    def flaky(file: int, start: int, buffer: memoryview) -> None:
        nonlocal asked
        asked += 1
        if broken:
            raise OSError(5, "no")
        fetch(file, start, buffer)

    blocks = Blocks(flaky, read_seconds=200)
    for _ in range(2):
        with pytest.raises(OSError, match="read") as caught:
            read(blocks, 3, 0, 10)
        assert caught.value.errno == EIO
    assert asked == 1
    assert blocks.held == 0
    broken = False
    assert read(blocks, 3, CELL, CELL + 10) == OBJECTS[3][CELL : CELL + 10]
    for when in blocks._failures:
        blocks._failures[when] -= 60
    assert read(blocks, 3, 0, 10) == OBJECTS[3][:10]


def test_who_waited_too_long_gets_an_error_and_the_next_one_the_bytes() -> None:
    go_on = threading.Event()

    def slow(file: int, start: int, buffer: memoryview) -> None:
        go_on.wait(200)
        fetch(file, start, buffer)

    blocks = Blocks(slow, read_seconds=0.05)
    with pytest.raises(OSError, match="could not be read") as caught:
        read(blocks, 1, 0, 10)
    assert caught.value.errno == EIO
    go_on.set()
    blocks._failures.clear()
    blocks._read_seconds = 200
    assert read(blocks, 1, 0, 10) == OBJECTS[1][:10]


def test_nothing_unread_is_given_up_to_fetch_more_ahead() -> None:
    blocks = Blocks(fetch, read_seconds=200, capacity=4 * CELL)
    size = len(OBJECTS[3])
    assert blocks.fetch_ahead(3, 0, 4 * CELL, size)
    await_held(blocks, 4 * CELL)
    assert not blocks.fetch_ahead(3, 4 * CELL, 5 * CELL, size)
    assert read(blocks, 3, 0, 4 * CELL) == OBJECTS[3][: 4 * CELL]
    assert blocks.fetch_ahead(3, 4 * CELL, 8 * CELL, size)
    assert blocks.held == 4 * CELL


def test_who_waits_for_what_waits_its_turn_has_it_fetched_first() -> None:
    go_on = threading.Event()

    def slow(file: int, start: int, buffer: memoryview) -> None:
        if file == 3 and start < 8 * CELL:
            go_on.wait(200)
        fetch(file, start, buffer)

    blocks = Blocks(slow, read_seconds=200)
    for cell in range(12):
        blocks.fetch_ahead(3, cell * CELL, (cell + 1) * CELL, len(OBJECTS[3]))
    assert read(blocks, 3, 11 * CELL, 12 * CELL) == OBJECTS[3][11 * CELL : 12 * CELL]
    assert len(blocks._ahead) <= 11  # it is not kept there, or its bytes would be too
    assert all(span.start != 11 * CELL for span in blocks._ahead)
    go_on.set()


def test_what_was_fetched_for_a_reader_that_is_gone_is_given_up() -> None:
    stuck = threading.Event()

    def slow(file: int, start: int, buffer: memoryview) -> None:
        if start >= CELL:
            stuck.wait(200)
        fetch(file, start, buffer)

    blocks = Blocks(slow, read_seconds=200)
    read(blocks, 3, 0, 1)
    for cell in range(1, 30):
        blocks.fetch_ahead(3, cell * CELL, (cell + 1) * CELL, len(OBJECTS[3]))
    assert blocks.held == 30 * CELL
    blocks.cancel_ahead(3)
    assert blocks.held <= 9 * CELL  # what was read, and what is on its way
    stuck.set()
    assert read(blocks, 3, 29 * CELL, 30 * CELL) == OBJECTS[3][29 * CELL : 30 * CELL]


@pytest.mark.slow(0.5)
def test_a_reader_that_gave_up_leaves_nothing_in_the_queue() -> None:
    stuck = threading.Event()

    def slow(file: int, start: int, buffer: memoryview) -> None:
        stuck.wait(200)
        fetch(file, start, buffer)

    blocks = Blocks(slow, read_seconds=0.05)
    for cell in range(38):
        blocks.fetch_ahead(3, cell * CELL, (cell + 1) * CELL, len(OBJECTS[3]))
    with pytest.raises(OSError, match="could not be read"):
        read(blocks, 3, 10 * CELL, 38 * CELL - 1)
    assert any(span.start == 37 * CELL for span in blocks._spans)
    blocks.cancel_ahead(3)
    assert all(span.start != 37 * CELL for span in blocks._spans)
    stuck.set()
    blocks._failures.clear()
    blocks._read_seconds = 200
    assert read(blocks, 3, 37 * CELL, 38 * CELL) == OBJECTS[3][37 * CELL : 38 * CELL]


def test_how_much_is_fetched_at_once_follows_the_pace_of_s3() -> None:
    seconds = 0.0

    def paced(file: int, start: int, buffer: memoryview) -> None:
        time.sleep(seconds * len(buffer) / CELL)
        fetch(file, start, buffer)

    blocks = Blocks(paced, read_seconds=200)
    for cell in range(20):
        read(blocks, 3, cell * CELL, (cell + 1) * CELL)
    seconds = 0.05
    for cell in range(20, 39):
        read(blocks, 3, cell * CELL, (cell + 1) * CELL)
    assert blocks.at_once < 3 * CELL / seconds
