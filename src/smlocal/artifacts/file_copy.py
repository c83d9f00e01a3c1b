"""Copy the content of a file inside the kernel, with shared blocks if the file system can. Holes stay holes."""

import errno
import os
from collections.abc import Callable, Iterator

_KERNEL_BYTES = 8 << 20
_READ_BYTES = 1 << 20
_NO_COPY_RANGE = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM}


def copy_bytes(source: int, copy: int, copied: Callable[[int], None]) -> None:
    """Copy an open file into a new one; `copied` is called with the number of bytes of each piece, and may raise."""
    size = os.fstat(source).st_size
    done = 0
    for start, end in data_ranges(source, size):
        copied(start - done)
        done = _copy_range(source, copy, start, end, copied)
        if done < end:
            os.ftruncate(copy, done)
            return  # the file shrank, or is a special file with a wrong size
    os.ftruncate(copy, size)
    copied(size - done)
    if not size:  # files in /proc have size 0 and content
        _read_and_write(source, copy, 0, None, copied)


def data_ranges(source: int, size: int) -> Iterator[tuple[int, int]]:
    """The ranges of a file that are not holes. The position of the descriptor changes."""
    position = 0
    while position < size:
        try:
            start = os.lseek(source, position, os.SEEK_DATA)
            end = os.lseek(source, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            start, end = position, size  # the file system does not support holes
        if start >= size:
            return
        position = min(end, size)
        yield start, position


def _copy_range(source: int, copy: int, start: int, end: int, copied: Callable[[int], None]) -> int:
    """Copy one range; returns where the copy ended."""
    position = start
    if not hasattr(os, "copy_file_range"):  # not on macOS
        return _read_and_write(source, copy, start, end, copied)
    try:
        while position < end and (
            count := os.copy_file_range(source, copy, min(end - position, _KERNEL_BYTES), position, position)
        ):
            position += count
            copied(count)
    except OSError as error:
        if position > start or error.errno not in _NO_COPY_RANGE:
            raise
    return _read_and_write(source, copy, position, end, copied)  # some kernels copy nothing, without an error


def _read_and_write(source: int, copy: int, start: int, end: int | None, copied: Callable[[int], None]) -> int:
    position = start
    while end is None or position < end:
        piece = os.pread(source, _READ_BYTES if end is None else min(end - position, _READ_BYTES), position)
        if not piece:
            break
        rest = memoryview(piece)
        while rest:
            written = os.pwrite(copy, rest, position)
            position += written
            rest = rest[written:]
        copied(len(piece))
    return position
