"""What an object has beside its bytes: ETag, headers and checksums, in a small file apart from the bucket's folder.

A file that was changed or put there by another program has none of these: what is recorded is for a size and a time.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from smlocal.base.files import replace_file
from smlocal.quick_dataclass import dataclass

DEFAULT_TYPE = "binary/octet-stream"


@dataclass(frozen=True, kw_only=True, slots=True)
class Attributes:
    """Of one object, or of one part of an upload."""

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
    """Changes with the file. It ends as those of multipart uploads do, so that nobody takes it for an MD5."""
    text = f"{stat.st_ino} {stat.st_size} {stat.st_mtime_ns}"
    return f"{hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()}-1"
