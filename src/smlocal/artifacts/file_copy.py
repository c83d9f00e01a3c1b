"""Copy the content of a file inside the kernel, with shared blocks if the file system can. Holes stay holes."""

import errno
import os
from collections.abc import Callable, Iterator

from smlocal.base.kernel_copy import copy_range


def copy_bytes(source: int, copy: int, copied: Callable[[int], None]) -> None:
    """Copy an open file into a new one; `copied` is called with the number of bytes of each piece, and may raise."""
    size = os.fstat(source).st_size
    done = 0
    for start, end in data_ranges(source, size):
        copied(start - done)
        os.lseek(copy, start, os.SEEK_SET)
        done = copy_range(source, copy, start, end, copied)
        if done < end:
            os.ftruncate(copy, done)
            return  # the file shrank, or is a special file with a wrong size
    os.ftruncate(copy, size)
    copied(size - done)
    if not size:  # files in /proc have size 0 and content
        copy_range(source, copy, 0, None, copied)


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
