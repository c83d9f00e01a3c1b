"""Find out whether a file is being written, and read a file that is written all the time.

The kernel grants a read lease only on a file that nobody has open for writing. Whoever opens it for writing then waits
until the lease is released. So it is held only as long as it takes to read a small file.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from signal import SIGURG

_RETRY_SECONDS = 0.0002


def has_writer(descriptor: int) -> bool | None:
    """True if the file is open for writing; None if the kernel does not tell this user."""
    with _lease(descriptor) as written:
        return written


def read_unwritten(descriptor: int, *, most: int, tries: int = 1) -> bytes | None:
    """Read a small file while nobody writes it.

    None if it was being written at each try, if it is larger than `most`, or if the kernel does not tell.
    """
    for left in reversed(range(tries)):
        with _lease(descriptor) as written:
            data = os.pread(descriptor, most + 1, 0) if written is False else None
        if data is not None:
            return data if len(data) <= most else None
        if written is None or not left:
            return None
        time.sleep(_RETRY_SECONDS)
    return None


@contextmanager
def _lease(descriptor: int) -> Iterator[bool | None]:
    """Yield whether the file has a writer; if not, there can be none inside the `with` block."""
    try:
        # The default signal for "somebody waits for the lease" would end this process; SIGURG is ignored by default.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        yield True if error.errno == errno.EAGAIN else None
        return
    try:
        yield False
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
