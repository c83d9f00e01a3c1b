"""A little room on the disk of the home, so that a job that fills the disk can still be written down as what it is."""

import os
from contextlib import suppress

_FILE = ".reserve"
_BYTES = 512 * 1024


def keep_room(directory: str) -> None:
    """Take the room; where there is none, nothing can be done about it later either."""
    with suppress(OSError):
        descriptor = os.open(os.path.join(directory, _FILE), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, _BYTES)
        finally:
            os.close(descriptor)


def give_room(directory: str) -> None:
    """Give the room back, before the last words about the job are written."""
    with suppress(OSError):
        os.unlink(os.path.join(directory, _FILE))
