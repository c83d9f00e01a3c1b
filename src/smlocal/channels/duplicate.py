"""Copies a file in the fastest way that the file system allows."""

import os
import stat
from dataclasses import field
from errno import EISDIR
from fcntl import ioctl

from smlocal.base.kernel_copy import NOT_SUPPORTED, copy_range
from smlocal.channels.interface import Check, no_check
from smlocal.quick_dataclass import dataclass

_FICLONE = 0x40049409
FILE_MODE = 0o644


@dataclass(kw_only=True, slots=True)
class Duplicator:
    """Makes independent copies, and remembers which devices do not support reflinks."""

    check: Check = no_check
    """Called before each file, and repeatedly within a large one."""
    reflinked: int = 0
    bytes_copied: int = 0
    _cannot_clone: set[int] = field(default_factory=set)

    def duplicate(self, source: str, target: str, *, reading: int | None = None) -> None:
        """Make `target` with the content of `source`, the service's mode and the current time.

        `reading`: the source, if it is open already. It is closed.
        """
        if reading is None:
            # Non-blocking: the file may have been replaced by a FIFO.
            reading = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            self.check()
            status = os.fstat(reading)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(EISDIR, "is no longer a regular file", source)
            writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
            try:
                os.fchmod(writing, FILE_MODE)  # regardless of the umask
                if status.st_size and self._cloned(reading, writing, status.st_dev):
                    self.reflinked += 1
                else:
                    self.bytes_copied += copy_range(reading, writing, 0, None, lambda _: self.check())
            finally:
                os.close(writing)
        finally:
            os.close(reading)

    def _cloned(self, reading: int, writing: int, device: int) -> bool:
        if device in self._cannot_clone:
            return False
        try:
            ioctl(writing, _FICLONE, reading)
        except OSError as error:
            if error.errno not in NOT_SUPPORTED:
                raise
            self._cannot_clone.add(device)
            return False
        return True
