from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import pytest

from smlocal.data.channels.fastfile.filesystem import FileSystem
from smlocal.data.channels.fastfile.tree import Tree, write_index
from smlocal.data.sources.s3.interface import Checksum, S3Error, S3Object
from smlocal.terms.listing import Listing

if TYPE_CHECKING:
    from smlocal.data.channels.fastfile.tree import Unread

BUCKET = "bucket"
BASE = "base/"


class MemoryStore:
    """A real store whose bucket is a dictionary, and which remembers what was asked of it."""

    def __init__(self, objects: Mapping[str, bytes]) -> None:
        self.objects = dict(objects)
        self.failing: S3Error | None = None
        self.missing = 0
        """So many bytes at the end of every answer never come."""
        self.asked: list[tuple[str, int, int]] = []
        self._lock = Lock()

    def list_objects(self, bucket: str, prefix: str) -> Iterator[S3Object]:
        for key in sorted(self.objects, key=str.encode):
            if key.startswith(prefix):
                yield self.head(bucket, key)

    def head(self, bucket: str, key: str) -> S3Object:
        data = self.objects[key]
        return S3Object(bucket=bucket, key=key, size=len(data), etag=f'"{hash(data)}"')

    def read_into(self, wanted: S3Object, start: int, buffer: memoryview) -> int:
        with self._lock:
            self.asked.append((wanted.key, start, len(buffer)))
        if self.failing:
            raise self.failing
        if self.head(wanted.bucket, wanted.key).etag != wanted.etag:
            raise S3Error("PreconditionFailed", "it has changed", status=412)
        piece = self.objects[wanted.key][start : start + len(buffer) - self.missing]
        buffer[: len(piece)] = piece
        return len(piece)

    def read_first(self, wanted: S3Object, most: int) -> tuple[S3Object, bytes]:
        return self.head(wanted.bucket, wanted.key), self.objects[wanted.key][:most]

    def checksum(self, of: S3Object) -> Checksum:
        raise AssertionError(of)  # ranges have none


class Channel:
    """A file system over a dictionary of objects, as the server of a channel makes it."""

    def __init__(self, objects: Mapping[str, bytes], folder: Path, *, read_seconds: float = 30) -> None:
        self.store = MemoryStore({BASE + path: data for path, data in objects.items()})
        self.troubles: list[str] = []
        self.unread: list[Unread] = []
        index = folder / "index"
        write_index(remote_listing(list(self.store.list_objects(BUCKET, BASE))), str(index))
        self.files = FileSystem(
            Tree(str(index)),
            self.store,
            bucket=BUCKET,
            key_base=BASE,
            log=self.troubles.append,
            unread=self.unread.append,
            read_seconds=read_seconds,
        )
        index.unlink()

    def read(self, handle: int, start: int, count: int) -> bytes:
        return read(self.files, handle, start, count)


def read(files: FileSystem, handle: int, start: int, count: int) -> bytes:
    """The bytes that a reader would get; others stay question marks."""
    buffer = bytearray(b"?" * count)

    def put(place: int, piece: memoryview) -> None:
        buffer[place : place + len(piece)] = piece

    return bytes(buffer[: files.read(handle, start, count, put)])


def remote_listing(objects: list[S3Object], *, directories: tuple[str, ...] = ()) -> Listing:
    sizes = [each.size or 0 for each in objects]
    return Listing(
        root="",
        bucket_uri=f"s3://{BUCKET}/",
        prefix=BASE,
        key_base=BASE,
        paths=[each.key.removeprefix(BASE) for each in objects],
        sizes=sizes,
        etags=[each.etag or "" for each in objects],
        total_bytes=list(accumulate(sizes, initial=0))[-1],
        whole_tree=False,
        directories=directories,
    )


@pytest.fixture
def channel_of(tmp_path: Path) -> Callable[..., Channel]:
    def make(objects: Mapping[str, bytes], *, read_seconds: float = 30) -> Channel:
        return Channel(objects, tmp_path, read_seconds=read_seconds)

    return make


@pytest.fixture
def tree_of(tmp_path: Path) -> Callable[..., Tree]:
    """A tree of these paths in the order given, each object as large as its place there."""

    def make(paths: list[str], *, directories: tuple[str, ...] = (), keys: tuple[str, ...] = ()) -> Tree:
        listing = Listing(
            root="",
            bucket_uri=f"s3://{BUCKET}/",
            prefix=BASE,
            key_base=BASE,
            paths=paths,
            keys=keys,
            sizes=range(len(paths)),
            etags=[f'"{number}"' for number in range(len(paths))],
            total_bytes=0,
            whole_tree=False,
            directories=directories,
        )
        index = tmp_path / "index"
        index.unlink(missing_ok=True)
        write_index(listing, str(index))
        return Tree(str(index))

    return make
