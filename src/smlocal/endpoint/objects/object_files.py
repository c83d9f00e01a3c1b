"""The file of an object while it is received, and its attributes.

ETag, headers and checksums are in a small file apart from the bucket's folder. A file that was changed or put there by
another program has none of these: records are for a size and a time.
"""

import errno
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from smlocal.base.files import copy_range, replace_file
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.objects.s3_documents import S3CallError

DEFAULT_TYPE = "binary/octet-stream"


@dataclass(frozen=True, kw_only=True, slots=True)
class Attributes:
    """Attributes of one object, or of one part of an upload."""

    etag: str
    """Without quotes."""
    headers: Mapping[str, str]
    """Content-Type and others, and x-amz-meta-*, with names in lower case."""
    checksums: Mapping[str, str]
    """By header, `x-amz-checksum-crc32`: the value in base64."""


class AttributeFiles:
    """The attributes of all objects of a bucket."""

    def __init__(self, folder: str) -> None:
        """`folder` is made with the first of them."""
        self._folder = folder

    def read(self, key: str, stat: os.stat_result) -> Attributes:
        """Those of an object, whose file has this `stat`."""
        return self.recorded(key, stat) or Attributes(
            etag=_etag_of_file(stat), headers={"content-type": DEFAULT_TYPE}, checksums={}
        )

    def recorded(self, key: str, stat: os.stat_result) -> Attributes | None:
        """Those that were recorded for this state of the file."""
        try:
            with open(self._path(key), "rb") as file:
                found: dict[str, Any] = json.load(file)
        except (FileNotFoundError, ValueError):
            return None
        if [found["Size"], found["Modified"]] != _state(stat):
            return None
        return Attributes(etag=found["ETag"], headers=found["Headers"], checksums=found["Checksums"])

    def write(self, key: str, stat: os.stat_result, attributes: Attributes) -> None:
        """Record those of a file, before the file gets its name."""
        size, modified = _state(stat)
        path = self._path(key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        document = {
            "Key": key,
            "Size": size,
            "Modified": modified,
            "ETag": attributes.etag,
            "Headers": dict(attributes.headers),
            "Checksums": dict(attributes.checksums),
        }
        replace_file(path, json.dumps(document).encode())

    def remove(self, key: str) -> None:
        """Forget those of an object."""
        with suppress(FileNotFoundError):
            os.unlink(self._path(key))

    def _path(self, key: str) -> str:
        digest = hashlib.sha256(key.encode()).hexdigest()
        return os.path.join(self._folder, digest[:2], f"{digest[2:]}.json")


def _state(stat: os.stat_result) -> list[int]:
    return [stat.st_size, stat.st_mtime_ns]


def _etag_of_file(stat: os.stat_result) -> str:
    """Changes with the file. It ends as those of multipart uploads do, so that clients do not take it for an MD5."""
    text = f"{stat.st_ino} {stat.st_size} {stat.st_mtime_ns}"
    return f"{hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()}-1"


_JUST_MADE_SECONDS = 60.0
"""So long a file may be there without the lock of its writer."""


class IncomingFile:
    """A context manager: a file that was not renamed in the block is removed at its end."""

    def __init__(self, folder: str) -> None:
        """`folder` is made if there is none."""
        os.makedirs(folder, exist_ok=True)
        self._path: str | None = os.path.join(folder, os.urandom(12).hex())
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self.descriptor = os.open(self._path, flags, 0o666)
        fcntl.flock(self.descriptor, fcntl.LOCK_EX)  # a mark: its writer is alive

    def write(self, data: bytes) -> None:
        """Append bytes."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.descriptor, view) :]

    def append_from(self, descriptor: int, span: tuple[int, int]) -> None:
        """Append a part of an open file, which shares its blocks where the file system can."""
        start, end = span
        if copy_range(descriptor, self.descriptor, start, end, lambda _: None) < end:
            raise OSError(errno.EIO, "a file has become shorter while it was copied")

    def md5(self) -> str:
        """The MD5 of the written bytes, read again."""
        with open(self.descriptor, "rb", closefd=False) as file:
            file.seek(0)
            return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()

    def state(self) -> os.stat_result:
        """Size and time."""
        return os.fstat(self.descriptor)

    def rename(self, name: str, folder: int | None) -> None:
        """Give the file its name, in an open folder if one is given. A file of that name is replaced."""
        if self._path is None:
            raise AssertionError(name)
        try:
            os.replace(self._path, name, dst_dir_fd=folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            raise S3CallError(
                "InternalError", "The folder of this bucket is on another file system than that of all buckets."
            ) from error
        self._path = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._path is not None:
            with suppress(FileNotFoundError):
                os.unlink(self._path)
        os.close(self.descriptor)


def remove_abandoned(folder: str) -> None:
    """Remove files whose writer was killed."""
    with suppress(FileNotFoundError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with suppress(OSError), open(path, "rb") as file:
                if time.time() - os.fstat(file.fileno()).st_mtime < _JUST_MADE_SECONDS:
                    continue
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(path)
