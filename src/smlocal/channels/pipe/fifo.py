"""The FIFO of one epoch, in a folder that a container may do anything to."""

import os
import stat
from errno import EOPNOTSUPP, EPERM, EXDEV
from threading import Lock

_MODE = 0o666
_NO_LINKS = {EOPNOTSUPP, EPERM, EXDEV}


class Fifo:
    """A FIFO of ours, held by a descriptor of its own: whatever becomes of its name, nothing else is ever written to.

    `open` blocks until somebody reads; `release`, from another thread, ends that. `FileExistsError` from the
    constructor says that the name is taken.
    """

    def __init__(self, name: str, *, directory: int, spool: str) -> None:
        """Make it in the folder open as `directory`, of a mode that everybody can read whatever the umask.

        It is made in `spool` and given its name when it is ready, so that nobody meets it with another mode.
        """
        self._lock = Lock()
        self._reading = -1
        private = f"{spool}/{name}"
        os.mkfifo(private, _MODE)
        try:
            self._path = _hold(private)
            try:
                os.link(private, name, dst_dir_fd=directory, follow_symlinks=False)
            except OSError as error:
                os.close(self._path)
                if error.errno not in _NO_LINKS:
                    raise
                self._path = _made_in_place(name, directory)
        finally:
            os.unlink(private)

    def open(self) -> int:
        """Wait for a reader and return the side that is written to."""
        return os.open(_name_of(self._path), os.O_WRONLY | os.O_CLOEXEC)

    def release(self) -> None:
        """Let a blocked `open` return, and every later one at once."""
        with self._lock:
            if self._path >= 0 and self._reading < 0:
                self._reading = os.open(_name_of(self._path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def close(self) -> None:
        """Let go of it; its name stays, for readers look at FIFOs that they are done with."""
        with self._lock:
            for descriptor in (self._path, self._reading):
                if descriptor >= 0:
                    os.close(descriptor)
            self._path = self._reading = -1


def _hold(name: str, directory: int | None = None) -> int:
    """Keep hold of the FIFO of this name and open it up to everybody, unless it is no FIFO any more."""
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        os.chmod(_name_of(descriptor), _MODE)
        return descriptor
    os.close(descriptor)
    raise FileExistsError(name)


def _made_in_place(name: str, directory: int) -> int:
    """Where there are no hard links between the two folders."""
    os.mkfifo(name, _MODE, dir_fd=directory)
    return _hold(name, directory)


def _name_of(descriptor: int) -> str:
    """A name that means this very file, wherever it has gone."""
    return f"/proc/self/fd/{descriptor}"
