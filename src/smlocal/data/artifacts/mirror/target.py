"""Where files are mirrored to, and which files were mirrored."""

import json
import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import field, replace
from typing import Protocol

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.artifacts.tree import Clash
from smlocal.terms.checkpoints import Restored, Stamp


class PathConflictError(Exception):
    """A file cannot be written, because a folder has its name, or a file has the name of a folder above it."""

    def __init__(self, path: bytes) -> None:
        """`path` is where the conflict is, relative to the target."""
        super().__init__(path)
        self.path = path


class FileChangedError(Exception):
    """A file was written to while it was copied."""


def always() -> bool:
    """The `unchanged` of a file that is not written to any more."""
    return True


def check_unchanged(unchanged: Callable[[], bool]) -> None:
    """Raise `FileChangedError` if the file has changed."""
    if not unchanged():
        raise FileChangedError


class OpenTarget(Protocol):
    """Takes files, by paths without `..`. Raises `OSError` on failure, and `PathConflictError`."""

    def write(self, path: bytes, source: int, *, mtime: int, unchanged: Callable[[], bool] = always) -> None:
        """Write a complete copy of an open file; `FileChangedError`, and no copy, if it is not `unchanged` then."""

    def delete(self, path: bytes) -> None:
        """Delete a file, if it exists."""

    def replace_links(self, folders: Iterable[bytes]) -> list[bytes]:
        """Replace those of these folders that are links by real folders; returns them."""
        ...


class Target(Protocol):
    """Is opened each time there is something to write; in between, the user may change it."""

    def exists(self) -> bool:
        """False if there can be nothing to delete."""
        ...

    def open(self) -> AbstractContextManager[OpenTarget]:
        """Create it if necessary."""
        ...


# Which files were mirrored, stored for the save at the end of the job and for a supervisor that adopts it.

UNKNOWN = Stamp(size=-1, mtime_ns=0, inode=0)
"""The stamp of a file that is being written to the target; no file matches it."""


@dataclass(kw_only=True, slots=True)
class MirrorState:
    """A file with one line for each file that was written to the target or deleted there.

    If one file is rewritten for a day, this takes a few megabytes. The state is deleted at the end of the attempt.
    """

    path: str
    owners: dict[str, str] = field(default_factory=dict)
    """The host whose file is at the target, by path, for mirrored files."""
    clashes: dict[str, Clash] = field(default_factory=dict)
    """The last time a host's file replaced that of another host, by path."""
    _stamps: dict[str, dict[str, Stamp]] = field(default_factory=dict)
    _deleted: dict[str, set[str]] = field(default_factory=dict)
    _descriptor: int = -1

    @classmethod
    def read(cls, path: str) -> "MirrorState":
        """Read what all supervisors of the job have written; it is empty if there is no file."""
        state = cls(path=path)
        with suppress(FileNotFoundError), open(path, encoding="ascii") as lines:
            for line in lines:
                with suppress(ValueError, TypeError):  # a killed supervisor may have left a part of a line
                    state._apply(*json.loads(line))
        return state

    def up_to_date(self, host: str, restored: Restored) -> Restored:
        """The files of a host that are at the target: those that were restored, and those mirrored since."""
        deleted = self._deleted.get(host, set())
        files = {path: stamp for path, stamp in restored.files.items() if path not in deleted}
        return replace(restored, files={**files, **self._stamps.get(host, {})})

    def writing(self, host: str, path: str) -> None:
        """A new file is going to be written to the target."""
        self._add(host, path, UNKNOWN.size, UNKNOWN.mtime_ns, UNKNOWN.inode)

    def written(self, host: str, path: str, stamp: Stamp) -> None:
        """The target has a copy of the file with this stamp."""
        self._add(host, path, stamp.size, stamp.mtime_ns, stamp.inode)

    def deleted(self, host: str, path: str) -> None:
        """The file was deleted by the host, and at the target."""
        self._add(host, path)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _add(self, host: str, path: str, *stamp: int) -> None:
        self._apply(host, path, *stamp)
        if self._descriptor < 0:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        # The first newline ends a line that was not completed. If the line does not fit on the disk, the file is saved
        # again at the end.
        os.write(self._descriptor, f"\n{json.dumps([host, path, *stamp])}\n".encode("ascii"))

    def _apply(self, host: str, path: str, *stamp: int) -> None:
        if not stamp:
            self._stamps.setdefault(host, {}).pop(path, None)
            self._deleted.setdefault(host, set()).add(path)
            if self.owners.get(path) == host:
                del self.owners[path]
            return
        size, mtime_ns, inode = stamp
        self._stamps.setdefault(host, {})[path] = Stamp(size=size, mtime_ns=mtime_ns, inode=inode)
        self._deleted.setdefault(host, set()).discard(path)
        if size == UNKNOWN.size:
            return
        before = self.owners.get(path, host)
        if before != host:
            self.clashes[path] = Clash(path=path, loser=before, winner=host)
        self.owners[path] = host
