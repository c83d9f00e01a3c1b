from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from errno import EBADF, EIO, ENOENT, ENOTDIR
from random import Random
from typing import Protocol

import pytest
from tests.kit import until

from smlocal.data.channels.fastfile.filesystem import CELL, FileSystem
from smlocal.data.channels.fastfile.tree import Unread
from smlocal.data.sources.s3.interface import S3Error

BIG = Random(1).randbytes(24 << 20)


class Store(Protocol):
    objects: dict[str, bytes]
    asked: list[tuple[str, int, int]]
    failing: S3Error | None
    missing: int


class Channel(Protocol):
    files: FileSystem
    store: Store
    troubles: list[str]
    unread: list[Unread]

    def read(self, handle: int, start: int, count: int) -> bytes: ...


ChannelOf = Callable[..., Channel]


def test_nothing_is_fetched_before_a_read(channel_of: ChannelOf) -> None:
    channel = channel_of({"a/one": b"1", "two": b"22"})
    files = channel.files
    assert files.lookup(b"a").folder
    assert files.lookup(b"two").size == 2
    folder = files.open_folder(b"")
    assert [name for name, _, _ in files.entries(folder, 0)] == [b"a", b"two"]
    files.release_folder(folder)
    files.release(files.open(b"two"))
    assert channel.store.asked == []


def test_small_random_reads_fetch_little(channel_of: ChannelOf) -> None:
    channel = channel_of({"big": BIG})
    handle = channel.files.open(b"big")
    places = [number * 5_000_011 % len(BIG) for number in range(20)]
    for place in places:
        assert channel.read(handle, place, 100) == BIG[place : place + 100]
    assert sum(count for _, _, count in channel.store.asked) <= 2 * CELL * len(places)


def test_who_reads_on_waits_for_few_fetches_and_everything_is_fetched_once(channel_of: ChannelOf) -> None:
    channel = channel_of({"big": BIG})
    handle = channel.files.open(b"big")
    got = b"".join(channel.read(handle, start, CELL) for start in range(0, len(BIG) + CELL, CELL))
    assert got == BIG
    assert sum(count for _, _, count in channel.store.asked) == len(BIG)
    assert len(channel.store.asked) < len(BIG) // CELL / 2


def test_reads_end_where_the_object_ends(channel_of: ChannelOf) -> None:
    channel = channel_of({"small": b"0123456789", "empty": b""})
    handle = channel.files.open(b"small")
    assert channel.read(handle, 5, 100) == b"56789"
    assert channel.read(handle, 10, 100) == b""
    assert channel.read(handle, 1 << 40, 100) == b""
    assert channel.read(channel.files.open(b"empty"), 0, 100) == b""


def test_many_readers_of_many_files(channel_of: ChannelOf) -> None:
    objects = {f"{number}": Random(number).randbytes(number * 50_000) for number in range(20)}
    channel = channel_of(objects)

    def whole(name: str) -> bool:
        handle = channel.files.open(name.encode())
        got = b"".join(channel.read(handle, start, 100_000) for start in range(0, len(objects[name]), 100_000))
        channel.files.release(handle)
        return got == objects[name]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(whole, [*objects] * 3))


def test_errors_of_the_kernels_questions(channel_of: ChannelOf) -> None:
    files = channel_of({"file": b"x"}).files
    for path, call, errno in (
        (b"absent", files.lookup, ENOENT),
        (b"absent", files.open, ENOENT),
        (b"file/below", files.lookup, ENOENT),
        (b"file", files.open_folder, ENOTDIR),
    ):
        with pytest.raises(OSError, match=r"\w") as caught:
            call(path)
        assert caught.value.errno == errno
    handle = files.open(b"file")
    files.release(handle)
    with pytest.raises(OSError, match="open") as caught:
        files.node(handle)
    assert caught.value.errno == EBADF


def test_an_object_that_changed_cannot_be_read_and_the_log_says_why(channel_of: ChannelOf) -> None:
    channel = channel_of({"file": b"before", "other": b"same"})
    channel.store.objects["base/file"] = b"after!"
    with pytest.raises(OSError, match="read") as caught:
        channel.read(channel.files.open(b"file"), 0, 6)
    assert caught.value.errno == EIO
    assert channel.troubles == ["s3://bucket/base/file: PreconditionFailed: it has changed"]
    with pytest.raises(OSError, match="read"):  # the kernel's second try of the same read is not a second failure
        channel.read(channel.files.open(b"file"), 0, 6)
    assert channel.unread == [
        Unread(uri="s3://bucket/base/file", code="PreconditionFailed", why="PreconditionFailed: it has changed")
    ]
    assert channel.read(channel.files.open(b"other"), 0, 6) == b"same"


def test_what_s3_refuses_is_an_input_output_error(channel_of: ChannelOf) -> None:
    channel = channel_of({"file": b"data"})
    channel.store.failing = S3Error("AccessDenied", "Access Denied", status=403)
    with pytest.raises(OSError, match="read") as caught:
        channel.read(channel.files.open(b"file"), 0, 6)
    assert caught.value.errno == EIO


def test_an_object_that_is_too_short_cannot_be_read(channel_of: ChannelOf) -> None:
    channel = channel_of({"file": b"data"})
    channel.store.missing = 1
    with pytest.raises(OSError, match="read"):
        channel.read(channel.files.open(b"file"), 0, 4)
    assert channel.troubles == ["s3://bucket/base/file: it ended 1 bytes too early"]
    assert channel.unread == [Unread(uri="s3://bucket/base/file", code="", why="it ended 1 bytes too early")]


def test_what_is_fetched_ahead_in_vain_is_no_read_that_failed(channel_of: ChannelOf) -> None:
    channel = channel_of({"big": BIG})
    channel.store.failing = S3Error("AccessDenied", "said", status=403)
    assert channel.files._blocks.fetch_ahead(0, 0, CELL, len(BIG))
    until(lambda: bool(channel.troubles))
    assert channel.troubles == ["s3://bucket/base/big: AccessDenied: said"]
    assert channel.unread == []


@pytest.mark.slow(0.5)
def test_readers_that_go_on_share_the_memory(channel_of: ChannelOf) -> None:
    channel = channel_of({f"{number}": BIG for number in range(20)})
    handles = [channel.files.open(str(number).encode()) for number in range(20)]
    for start in range(0, len(BIG), 1 << 20):
        for handle in handles:
            assert channel.read(handle, start, 1 << 20) == BIG[start : start + (1 << 20)]
    assert channel.files._blocks.held <= 96 << 20
    # Data fetched ahead for one is not dropped for another before it is read.
    assert sum(count for _, _, count in channel.store.asked) <= 1.1 * 20 * len(BIG)
