import gzip
import random
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from isal import igzip

from smlocal.data.channels.pipe import feeder
from smlocal.data.channels.pipe.feeder import parts
from smlocal.data.channels.pipe.fifo import FifoWriter
from smlocal.data.channels.pipe.object_bytes import FeedError, decompressed

Feeding = Callable[..., Any]
LARGE = random.Random(1).randbytes(2_000_000) + bytes(3_000_000)
DAMAGED = gzip.compress(b"x")[:10] + b"\xff" * 20
"""The data begins with a block of no known kind."""


class Memory:
    """A body whose reads are short."""

    uri = "s3://b/k"

    def __init__(self, data: bytes, most: int = 1000) -> None:
        self.size = len(data)
        self._data = data
        self._most = most

    def send(self, outlet: FifoWriter, count: int) -> None:
        raise NotImplementedError

    def readinto(self, buffer: memoryview) -> int:
        piece = self._data[: min(self._most, len(buffer))]
        self._data = self._data[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)

    def finish(self) -> None:
        raise NotImplementedError


def framed(payload: bytes) -> bytes:
    (part,) = parts(len(payload))
    return part.header + payload + part.padding


def test_objects_are_decompressed_and_run_together(feeding: Feeding) -> None:
    files = {"a.gz": gzip.compress(b"first "), "b.gz": igzip.compress(LARGE), "c": gzip.compress(b"last")}
    feed = feeding(files, gzip=True)
    assert feed.read(0) == feed.read(1) == b"first " + LARGE + b"last"


def test_what_the_gzip_command_made(feeding: Feeding) -> None:
    compressed = subprocess.run(["gzip", "-9"], input=LARGE, stdout=subprocess.PIPE, check=True).stdout
    assert feeding({"a": compressed}, gzip=True).read(0) == LARGE


def test_without_gzip_they_stay_compressed(feeding: Feeding) -> None:
    compressed = gzip.compress(b"first")
    assert feeding({"a.gz": compressed}).read(0) == compressed


@given(st.lists(st.binary(max_size=3000)), st.integers(0, 600), st.integers(1, 5000))
def test_all_members_count_and_zeros_behind_them_do_not(members: list[bytes], zeros: int, most: int) -> None:
    data = b"".join(map(gzip.compress, members)) + bytes(zeros if members else 0)
    assert b"".join(decompressed(Memory(data, most))) == b"".join(members)


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(st.binary(min_size=1, max_size=2000), st.data())
def test_no_part_of_an_object_passes_for_the_whole(content: bytes, data: st.DataObject) -> None:
    compressed = gzip.compress(content)
    cut = data.draw(st.integers(1, len(compressed) - 1))
    with pytest.raises(FeedError, match=r"^Failed to decompress object s3://b/k as Gzip$"):
        list(decompressed(Memory(compressed[:cut])))


@pytest.mark.parametrize(
    "data",
    [
        b"plain text",
        gzip.compress(b"x") + b"junk",
        gzip.compress(b"x")[:-8] + bytes(8),
        bytes(20),
        b"\x1f\x8b\x08",
        DAMAGED,
    ],
    # gzip writes the time, a name must not
    ids=["plain text", "junk behind", "wrong checksum", "zeros", "cut header", "damaged data"],
)
def test_what_is_no_gzip_breaks_the_feed(feeding: Feeding, data: bytes) -> None:
    feed = feeding({"a": gzip.compress(b"good"), "b": data}, gzip=True)
    with feed.fifo(0).open("rb", buffering=0):
        assert feed.reason() == (
            f"ClientError: Data download failed:Failed to decompress object file://{feed.source}/b as Gzip"
        )


def test_a_record_holds_what_an_object_decompresses_to(feeding: Feeding) -> None:
    files = {"a": gzip.compress(b"12345") + gzip.compress(b"678"), "b": gzip.compress(b""), "c": gzip.compress(LARGE)}
    feed = feeding(files, gzip=True, record_io=True)
    assert feed.read(0) == framed(b"12345678") + framed(b"") + framed(LARGE)


def test_a_record_too_long_to_keep_is_decompressed_twice(feeding: Feeding, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeder, "_KEPT", 1_500_000)
    feed = feeding({"a": gzip.compress(LARGE), "b": gzip.compress(b"short")}, gzip=True, record_io=True)
    assert feed.read(0) == framed(LARGE) + framed(b"short")
