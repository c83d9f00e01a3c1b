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
def explained(place: str = "") -> Iterator[None]:
    """Word an error of the file system as the service words a failed upload; of one without a name, say the `place`."""
    try:
        yield
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        reason = "Insufficient disk space" if full else error.strerror or str(error)
        raise ArtifactError(
            f"Artifact upload failed:{reason}",
            details=[os.fsdecode(where)] if (where := error.filename or place) else (),
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
    notes.append(f"{shown} was deleted before it could be saved")
    return None


def copy_bytes(source: int, copy: int, tick: Callable[[int], None]) -> None:
    """Copy a file into a new one inside the kernel, sharing its blocks where the file system can; holes stay holes."""
    size = os.fstat(source).st_size
    done = 0
    for start, end in _data(source, size):
        tick(start - done)
        done = _copy_range(source, copy, start, end, tick)
        if done < end:
            os.ftruncate(copy, done)
            return  # it has shrunk, or is an odd file that only claims a size
    os.ftruncate(copy, size)
    tick(size - done)
    if not size:  # such as the files of /proc
        _copy_by_hand(source, copy, 0, None, tick)


def _data(source: int, size: int) -> Iterator[tuple[int, int]]:
    """The stretches of a file that are not holes."""
    position = 0
    while position < size:
        try:
            start = os.lseek(source, position, os.SEEK_DATA)
            end = os.lseek(source, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            start, end = position, size  # a file system that knows no holes
        if start >= size:
            return
        position = min(end, size)
        yield start, position


def _copy_range(source: int, copy: int, start: int, end: int, tick: Callable[[int], None]) -> int:
    """Copy one stretch; return how far it went."""
    position = start
    try:
        while position < end and (
            count := os.copy_file_range(source, copy, min(end - position, _PIECE), position, position)
        ):
            position += count
            tick(count)
    except OSError as error:
        if position > start or error.errno not in _NO_COPY_RANGE:
            raise
    return _copy_by_hand(source, copy, position, end, tick)  # also after a kernel that copied nothing from an odd one


def _copy_by_hand(source: int, copy: int, start: int, end: int | None, tick: Callable[[int], None]) -> int:
    position = start
    while end is None or position < end:
        piece = os.pread(source, _READ if end is None else min(end - position, _READ), position)
        if not piece:
            break
        rest = memoryview(piece)
        while rest:
            written = os.pwrite(copy, rest, position)
            position += written
            rest = rest[written:]
        tick(len(piece))
    return position


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
