"""The FIFO of one epoch, in a folder that the container may change."""

import os
import stat
from errno import EOPNOTSUPP, EPERM, EXDEV
from threading import Lock

_MODE = 0o666
_NO_LINKS = {EOPNOTSUPP, EPERM, EXDEV}


class Fifo:
    """A FIFO that is held open by a descriptor: if its name is replaced, nothing else is written to.

    `open` blocks until somebody reads; `release`, from another thread, ends that. The constructor raises
    `FileExistsError` if the name is taken.
    """

    def __init__(self, name: str, *, directory: int, spool: str) -> None:
        """Make the FIFO in `spool`, readable for everybody, and then link it into the folder open as `directory`."""
        self._lock = Lock()
        self._reading = -1
        private = f"{spool}/{name}"
        os.mkfifo(private, _MODE)
        try:
            self._path = _descriptor_of(private)
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
        """Wait for a reader and return a descriptor to write to."""
        return os.open(_proc_path(self._path), os.O_WRONLY | os.O_CLOEXEC)

    def release(self) -> None:
        """Let a blocked `open` and all later ones return."""
        with self._lock:
            if self._path >= 0 and self._reading < 0:
                self._reading = os.open(_proc_path(self._path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def close(self) -> None:
        """Close the descriptors. The name stays: readers look at FIFOs after they have read them."""
        with self._lock:
            for descriptor in (self._path, self._reading):
                if descriptor >= 0:
                    os.close(descriptor)
            self._path = self._reading = -1


def _descriptor_of(name: str, directory: int | None = None) -> int:
    """A descriptor of this FIFO, made readable for everybody; `FileExistsError` if it is no longer a FIFO."""
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        os.chmod(_proc_path(descriptor), _MODE)
        return descriptor
    os.close(descriptor)
    raise FileExistsError(name)


def _made_in_place(name: str, directory: int) -> int:
    """Make the FIFO in its folder, where hard links are not possible."""
    os.mkfifo(name, _MODE, dir_fd=directory)
    return _descriptor_of(name, directory)


def _proc_path(descriptor: int) -> str:
    """A path of the open file, also after it was renamed or removed."""
    return f"/proc/self/fd/{descriptor}"
