"""A real store of the protocol over bytes in this process."""

import hashlib
import threading
from collections.abc import Iterator, Mapping

import pytest

from smlocal.data.sources.s3.interface import Checksum, S3Error, S3Object, StoredChecksum


class MemoryStore:
    """Objects by key, in one bucket; counts what it is asked."""

    def __init__(self, objects: Mapping[str, bytes]) -> None:
        self.objects = dict(objects)
        self.reads: list[tuple[str, int, int]] = []
        self.sums: list[str] = []
        self.claims: dict[str, bytes] = {}
        """SHA-256 that are not those of the bytes."""
        self.gate = threading.Event()
        """Reads wait while it is clear."""
        self.gate.set()

    def listed(self, key: str) -> S3Object:
        return S3Object(bucket="b", key=key, size=len(self.objects[key]), etag=f'"{key}"')

    def list_objects(self, bucket: str, prefix: str) -> Iterator[S3Object]:
        keys = sorted((key for key in self.objects if key.startswith(prefix)), key=str.encode)
        return (self.listed(key)._replace(bucket=bucket) for key in keys)

    def head(self, bucket: str, key: str) -> S3Object:
        self._bytes(S3Object(bucket=bucket, key=key))
        return self.listed(key)._replace(bucket=bucket)

    def read_into(self, wanted: S3Object, start: int, buffer: memoryview) -> int:
        piece = self._read(wanted, start, len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def read_first(self, wanted: S3Object, most: int) -> tuple[S3Object, bytes]:
        piece = self._read(wanted, 0, most)
        return self.listed(wanted.key), piece

    def checksum(self, of: S3Object) -> Checksum:
        self.sums.append(of.key)
        said = self.claims.get(of.key, hashlib.sha256(self._bytes(of)).digest())
        return Checksum(StoredChecksum(kind="sha256", value=said))

    def _read(self, wanted: S3Object, start: int, most: int) -> bytes:
        self.reads.append((wanted.key, start, most))
        assert self.gate.wait(200)
        return self._bytes(wanted)[start : start + most]

    def _bytes(self, wanted: S3Object) -> bytes:
        if wanted.key not in self.objects:
            raise S3Error("NoSuchKey", "The specified key does not exist.", status=404, uri=wanted.uri)
        return self.objects[wanted.key]


@pytest.fixture(scope="session")
def memory_store_type() -> type[MemoryStore]:
    """For properties, which want nothing that is made for each test."""
    return MemoryStore


@pytest.fixture
def memory_store() -> type[MemoryStore]:
    return MemoryStore
