"""The stream gives the same bytes in the same order, whatever the sizes, the budget and the number of threads."""

import threading
import tracemalloc
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit import examples, until

from smlocal.data.sources.s3.interface import S3Error, S3Object
from smlocal.data.sources.s3.object_stream import ObjectStream, StreamClosedError

PART = 64 << 10
SIZES = st.one_of(
    st.integers(0, 40),
    st.integers(PART - 2, PART + 2),
    st.integers(3 * PART - 2, 3 * PART + 2),
    st.integers(0, 6 * PART),
)


def content(number: int, size: int) -> bytes:
    return array("I", range(number << 20, (number << 20) + (size + 3) // 4)).tobytes()[:size]


def drain(stream: ObjectStream) -> Iterator[tuple[S3Object, bytes]]:
    while (found := stream.open_next()) is not None:
        data = bytearray()
        read_on(stream, data)
        yield found, bytes(data)


def read_on(stream: ObjectStream, seen: bytearray) -> None:
    while piece := stream.read():
        seen += piece


@pytest.fixture
def open_stream() -> Iterator[Callable[..., ObjectStream]]:
    opened: list[ObjectStream] = []

    def make(*arguments: Any, **options: Any) -> ObjectStream:
        opened.append(ObjectStream(*arguments, **options))
        return opened[-1]

    yield make
    for stream in opened:
        stream.close()


@settings(deadline=None, max_examples=examples(150))
@given(
    objects=st.lists(st.tuples(SIZES, st.booleans()), max_size=30),
    budget=st.sampled_from([0, PART, 5 * PART, 64 * PART]),
    threads=st.integers(1, 8),
)
def test_every_byte_in_order(
    objects: list[tuple[int, bool]], budget: int, threads: int, memory_store_type: Any
) -> None:
    store = memory_store_type({f"{n:03}": content(n, size) for n, (size, _) in enumerate(objects)})
    asked = [
        store.listed(f"{n:03}") if known else S3Object(bucket="b", key=f"{n:03}")
        for n, (_, known) in enumerate(objects)
    ]
    stream = ObjectStream(store, asked, budget=budget, threads=threads)
    found = list(drain(stream))
    assert found == [(store.listed(key), data) for key, data in store.objects.items()]
    assert stream.open_next() is None
    stream.close()


@settings(deadline=None, max_examples=examples(100))
@given(
    objects=st.lists(st.tuples(SIZES, st.booleans(), st.integers(0, 3)), max_size=20),
    threads=st.integers(1, 8),
)
def test_what_is_left_out_does_no_harm(
    objects: list[tuple[int, bool, int]], threads: int, memory_store_type: Any
) -> None:
    store = memory_store_type({f"{n:03}": content(n, size) for n, (size, _, _) in enumerate(objects)})
    asked = [
        store.listed(f"{n:03}") if known else S3Object(bucket="b", key=f"{n:03}")
        for n, (_, known, _) in enumerate(objects)
    ]
    stream = ObjectStream(store, asked, budget=4 * PART, threads=threads)
    for number, (size, _, reads) in enumerate(objects):
        opened = stream.open_next()
        assert opened == store.listed(f"{number:03}")
        start = b"".join(bytes(stream.read()) for _ in range(reads))
        assert content(number, size).startswith(start)
        assert not reads or start or not size
    assert stream.open_next() is None
    stream.close()


def test_nothing_happens_before_the_first_call(memory_store: Any, open_stream: Callable[..., ObjectStream]) -> None:
    store = memory_store({"a": b"x"})

    asked: list[S3Object] = []

    def objects() -> Iterator[S3Object]:
        asked.append(store.listed("a"))
        yield asked[-1]

    before = set(threading.enumerate())
    stream = open_stream(store, objects())
    assert set(threading.enumerate()) <= before  # some of another test's may end just now
    assert (asked, store.reads) == ([], [])
    assert stream.open_next() == store.listed("a")


def test_a_list_without_end_is_taken_in_small_bites(
    memory_store: Any, open_stream: Callable[..., ObjectStream]
) -> None:
    store = memory_store({"empty": b"", "small": b"x" * 100})
    taken = 0

    def objects() -> Iterator[S3Object]:
        nonlocal taken
        while True:
            taken += 1
            yield store.listed("empty" if taken % 2 else "small")

    stream = open_stream(store, objects())
    for _ in range(100):
        assert stream.open_next() is not None
        bytes(stream.read())
    assert taken <= 100 + 4096 + 8


def test_small_objects_are_fetched_many_at_a_time(memory_store: Any, open_stream: Callable[..., ObjectStream]) -> None:
    store = memory_store({f"{n}": b"x" for n in range(20)})
    store.gate.clear()
    stream = open_stream(store, [store.listed(f"{n}") for n in range(20)], threads=8)
    assert stream.open_next() == store.listed("0")
    until(lambda: len(store.reads) == 8)
    store.gate.set()
    assert bytes(stream.read()) == b"x"


@pytest.mark.slow(0.5)
def test_memory_stays_within_the_budget(memory_store: Any, open_stream: Callable[..., ObjectStream]) -> None:
    budget = 8 << 20
    store = memory_store({"large": bytes(64 << 20)})
    asked = [store.listed("large") for _ in range(4)]
    tracemalloc.start()
    try:
        stream = open_stream(store, asked, budget=budget)
        read = list(sizes(stream))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read == [64 << 20] * 4
    # MemoryStore itself holds one slice for each of eight threads.
    assert peak < 2 * budget


def sizes(stream: ObjectStream) -> Iterator[int]:
    while stream.open_next() is not None:
        count = 0
        while piece := stream.read():
            count += len(piece)
        yield count


@pytest.mark.parametrize("known", [True, False])
def test_an_error_comes_where_its_object_is(
    memory_store: Any, open_stream: Callable[..., ObjectStream], *, known: bool
) -> None:
    store = memory_store({"a": b"first", "b": b"gone", "c": b"last"})
    asked = [store.listed(key) if known else S3Object(bucket="b", key=key) for key in "abc"]
    del store.objects["b"]
    stream = open_stream(store, asked)
    assert stream.open_next() is not None
    assert bytes(stream.read()) == b"first"
    if known:
        assert stream.open_next() is not None
    with pytest.raises(S3Error, match="NoSuchKey"):
        (stream.read if known else stream.open_next)()
    assert stream.open_next() == store.listed("c")
    assert bytes(stream.read()) == b"last"
    assert stream.open_next() is None


@pytest.mark.parametrize("known", [True, False])
def test_the_end_of_a_damaged_object_is_shown_to_nobody(
    memory_store: Any, open_stream: Callable[..., ObjectStream], *, known: bool
) -> None:
    store = memory_store({"a": content(0, 3 * PART + 5), "b": content(1, 3 * PART), "c": content(2, PART)})
    store.claims = {"a": bytes(32), "c": bytes(32)}
    asked = [store.listed(key) if known else S3Object(bucket="b", key=key) for key in store.objects]
    stream = open_stream(store, asked, budget=8 * PART, threads=4)
    assert stream.open_next() == store.listed("a")
    seen = bytearray()
    with pytest.raises(S3Error, match="BadDigest") as error:
        read_on(stream, seen)
    assert error.value.uri == "s3://b/a"
    assert bytes(seen) == content(0, 3 * PART)
    # Objects that come in one piece were checked by their reader.
    assert [(found.key, data) for found, data in drain(stream)] == [
        ("b", content(1, 3 * PART)),
        ("c", content(2, PART)),
    ]
    assert sorted(store.sums) == ["a", "b"]


def test_a_list_that_breaks_off_is_an_error_at_its_end(
    memory_store: Any, open_stream: Callable[..., ObjectStream]
) -> None:
    store = memory_store({"a": b"first"})

    def objects() -> Iterator[S3Object]:
        yield store.listed("a")
        raise S3Error("AccessDenied", "Access Denied", status=403)

    stream = open_stream(store, objects())
    assert stream.open_next() == store.listed("a")
    assert bytes(stream.read()) == b"first"
    for _ in range(2):
        with pytest.raises(S3Error, match="AccessDenied"):
            stream.open_next()


@pytest.mark.parametrize("call", ["open_next", "read"])
def test_a_call_that_waits_is_woken_by_close(
    memory_store: Any, open_stream: Callable[..., ObjectStream], call: str
) -> None:
    store = memory_store({"a": b"data"})
    store.gate.clear()
    stream = open_stream(store, [S3Object(bucket="b", key="a") if call == "open_next" else store.listed("a")])
    if call == "read":
        stream.open_next()
    threading.Timer(0.1, stream.close).start()
    with pytest.raises(StreamClosedError):
        getattr(stream, call)()
    store.gate.set()
    for again in (stream.open_next, stream.read):
        with pytest.raises(StreamClosedError):
            again()


def test_threads_end_by_themselves_when_everything_has_been_fetched(
    memory_store: Any, open_stream: Callable[..., ObjectStream]
) -> None:
    store = memory_store({f"{n}": b"x" * n for n in range(100)})
    before = set(threading.enumerate())
    stream = open_stream(store, [store.listed(key) for key in store.objects])
    assert len(list(drain(stream))) == 100
    until(lambda: not set(threading.enumerate()) - before)
