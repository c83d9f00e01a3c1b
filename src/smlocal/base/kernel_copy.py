"""Copies bytes from one open file to another inside the kernel, where it can: with shared blocks, or at least once."""

import os
from collections.abc import Callable
from errno import EBADF, EINVAL, ENOSYS, ENOTTY, EOPNOTSUPP, EPERM, EXDEV

NOT_SUPPORTED = {EBADF, EINVAL, ENOSYS, ENOTTY, EOPNOTSUPP, EPERM, EXDEV}
"""Errors of a kernel or file system that does not support a way of copying."""
_AT_ONCE = 16 << 20
"""Written in a fraction of a second: a stop waits for it."""
_READ_AT_ONCE = 1 << 20


def copy_range(source: int, target: int, start: int, end: int | None, copied: Callable[[int], None]) -> int:
    """Copy from `start` to `end` of `source`, or to where it ends, to the current position of `target`.

    Returns where in `source` the copy ended: before `end` if the file is shorter. `copied` is called with the number of
    bytes of each piece, and may raise.
    """
    position = start
    in_kernel = (_by_range, _by_sendfile) if hasattr(os, "copy_file_range") else ()  # only on Linux
    for way in (*in_kernel, _by_read_and_write):
        try:
            while left := _AT_ONCE if end is None else min(end - position, _AT_ONCE):
                count = way(source, target, position, left)
                if not count:
                    break
                position += count
                copied(count)
        except OSError as error:
            if error.errno not in NOT_SUPPORTED:
                raise
            continue
        if position > start:
            return position
        # The file may be empty, or the file system reports an end at once to this way: try the next.
    return position


def _by_range(source: int, target: int, position: int, count: int) -> int:
    return os.copy_file_range(source, target, count, offset_src=position)


def _by_sendfile(source: int, target: int, position: int, count: int) -> int:
    return os.sendfile(target, source, position, count)


def _by_read_and_write(source: int, target: int, position: int, count: int) -> int:
    piece = os.pread(source, min(count, _READ_AT_ONCE), position)
    left = memoryview(piece)
    while left:
        left = left[os.write(target, left) :]
    return len(piece)
