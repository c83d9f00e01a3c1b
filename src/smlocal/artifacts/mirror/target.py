"""What a mirror needs of the place that it copies files to: a local folder (`folder_target`) or S3 (`s3_target`)."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Protocol


class PathConflictError(Exception):
    """A file cannot be written, because a folder has its name, or a file has the name of a folder above it."""

    def __init__(self, path: bytes) -> None:
        """`path` is where the conflict is, relative to the target."""
        super().__init__(path)
        self.path = path


class FileChangedError(Exception):
    """A file was written to while it was copied."""


def always() -> bool:
    """The `unchanged` of a file that nobody writes to any more."""
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
