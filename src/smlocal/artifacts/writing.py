"""What all writers of artifacts share: how their errors read, and folders that last."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from smlocal.artifacts.tree import Entry, HostTree
from smlocal.errors import ArtifactError

_PIECE = 8 << 20
_READ = 1 << 20
_NO_COPY_RANGE = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM}
_NO_FILE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO}


@contextmanager
def explained() -> Iterator[None]:
    """Word an error of the file system as the service words a failed upload."""
    try:
        yield
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        reason = "Insufficient disk space" if full else error.strerror or str(error)
        raise ArtifactError(
            f"Artifact upload failed:{reason}",
            details=[os.fsdecode(error.filename)] if error.filename else (),
            remedy=["Free some space there or choose another output folder."] if full else (),
        ) from error


def open_file(tree: HostTree, entry: Entry, notes: list[str]) -> int | None:
    """Open the bytes of a file for reading; None, with a note, when there is no file by now."""
    shown = f"{tree.host}: {os.fsdecode(entry.path)}"
    try:
        source = tree.open(entry)
    except OSError as error:
        if error.errno not in _NO_FILE:
            raise
    else:
        if stat.S_ISREG(os.fstat(source).st_mode):
            return source
        os.close(source)
    notes.append(f"{shown} vanished before it could be kept")
    return None


def copy_bytes(source: int, copy: int, tick: Callable[[int], None]) -> None:
    """Copy a file inside the kernel, sharing its blocks where the file system can."""
    done = 0
    try:
        while count := os.copy_file_range(source, copy, _PIECE):
            done += count
            tick(count)
    except OSError as error:
        if done or error.errno not in _NO_COPY_RANGE:
            raise
    while piece := os.read(source, _READ):  # also after a kernel that copied nothing from an odd file system
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(copy, rest) :]
        tick(len(piece))


def make_folder(folder: str) -> None:
    """Make the folder that artifacts go to."""
    os.makedirs(folder, exist_ok=True)


def sync_folder(folder: str) -> None:
    """See to it that a rename in `folder` survives a power cut, where the file system can."""
    with suppress(OSError):
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
