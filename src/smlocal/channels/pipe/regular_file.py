"""Opening what was a regular file when it was listed."""

import os
import stat
from errno import EISDIR


def open_regular(path: str) -> int:
    """Return a descriptor to read from; `OSError` also where it is something else by now."""
    # Non-blocking, or a FIFO in its place would hold us up for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(EISDIR, "is no longer a regular file", path)
