"""Whether somebody is writing a file at this moment, and how to read one that is written all the time.

The kernel gives a lease for reading only on a file that nobody has open for writing. Who opens it for writing then
waits until the lease is given back: so it is held for no longer than a small file takes to be read.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from signal import SIGURG

_BETWEEN_TRIES = 0.0002


def has_writer(descriptor: int) -> bool | None:
    """True while somebody has the file open for writing; None where the kernel does not tell this user."""
    with _lease(descriptor) as found:
        return found


def read_whole(descriptor: int, *, most: int, tries: int = 1) -> bytes | None:
    """The whole of a small file, read at a moment at which nobody writes it.

    None if there was no such moment at any of the tries, if it is larger than `most`, or if nobody can say.
    """
    for left in reversed(range(tries)):
        with _lease(descriptor) as written:
            data = os.pread(descriptor, most + 1, 0) if written is False else None
        if data is not None:
            return data if len(data) <= most else None
        if written is None or not left:
            return None
        time.sleep(_BETWEEN_TRIES)
    return None


@contextmanager
def _lease(descriptor: int) -> Iterator[bool | None]:
    """Tell whether there is a writer; if not, none comes within."""
    try:
        # The kernel tells of one who waits by a signal that would end this process; this one is ignored by default.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        yield True if error.errno == errno.EAGAIN else None
        return
    try:
        yield False
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
