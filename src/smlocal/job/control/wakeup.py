"""Wake a supervisor that installs no signal handlers: a FIFO in the job's folder, written to by other processes."""

import os
from contextlib import suppress

_NAME = "wakeup"


def open_wakeup(directory: str) -> int:
    """Make the FIFO of a job and open it for the supervisor, so that a write to it never waits."""
    path = os.path.join(directory, _NAME)
    os.mkfifo(path, 0o600)
    # For writing too: without a writer it would count as ended, and wake the supervisor for ever.
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def write_wakeup(directory: str) -> bool:
    """Wake the supervisor; False when the job has no FIFO, and its supervisor is woken by a signal."""
    try:
        descriptor = os.open(os.path.join(directory, _NAME), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:  # nobody reads it: the supervisor has ended this instant
        return True
    try:
        with suppress(OSError):  # full: the supervisor is awake anyway
            os.write(descriptor, b"\0")
    finally:
        os.close(descriptor)
    return True


def remove_wakeup(directory: str) -> None:
    """From now on the supervisor of this job is woken by a signal."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(directory, _NAME))
