"""The record of objects that a container could not read from a FastFile channel, written by the server for the job."""

import json
import os
from contextlib import suppress
from threading import Lock

from smlocal.base.quick_dataclass import dataclass

NOT_CHECKED = "NotChecked"
"""In place of S3's code: the object was read, but its checksum could not be compared; `why` is the kind of checksum."""

_MOST = 100
"""Objects that are recorded; a program that ignores errors may have a million."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """A read that failed with EIO in the container."""

    uri: str
    code: str
    """S3's code, such as `NoSuchKey`; `RequestTimeout` without an answer; empty if there is none."""
    why: str


class UnreadLog:
    """Used by the server; safe to use from many threads."""

    def __init__(self, path: str) -> None:
        """The file is made when there is something to write."""
        self._path = path
        self._seen: set[tuple[str, str]] = set()
        self._lock = Lock()

    def add_first(self, unread: Unread) -> None:
        """Record only the first one with its code."""
        if not any(code == unread.code for _, code in list(self._seen)):
            self.add(unread)

    def add(self, unread: Unread) -> None:
        """Record a failed read, once for each object and cause."""
        with self._lock:
            key = (unread.uri, unread.code)
            if key in self._seen or len(self._seen) >= _MOST:
                return
            self._seen.add(key)
            line = json.dumps([unread.uri, unread.code, unread.why])
            # A full disk makes the job fail anyway.
            with suppress(OSError), open(self._path, "a", encoding="utf-8") as file:
                file.write(f"{line}\n")


def read_unread(path: str) -> list[Unread]:
    """The record; empty if every read succeeded."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if line.endswith("\n")]  # the last line may be incomplete
    return [Unread(uri=uri, code=code, why=why) for uri, code, why in map(json.loads, lines)]
