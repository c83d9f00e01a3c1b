"""Wake a supervisor that has no signal handlers: other processes write to a FIFO in the job's folder."""

import os
from contextlib import suppress

_NAME = "wakeup"


def open_wakeup(directory: str) -> int:
    """Make the FIFO of a job and open it for the supervisor."""
    path = os.path.join(directory, _NAME)
    os.mkfifo(path, 0o600)
    # For writing too: without any writer it would always be readable, at its end.
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def write_wakeup(directory: str) -> bool:
    """Wake the supervisor; False if there is no FIFO, and the supervisor is woken by a signal."""
    try:
        descriptor = os.open(os.path.join(directory, _NAME), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:  # nobody reads it: the supervisor has just ended
        return True
    try:
        with suppress(OSError):  # full: the supervisor is awake anyway
            os.write(descriptor, b"\0")
    finally:
        os.close(descriptor)
    return True


def remove_wakeup(directory: str) -> None:
    """From now on this job's supervisor is woken by a signal."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(directory, _NAME))
