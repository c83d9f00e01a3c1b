"""One file made from another with as little work as the file system allows."""

import os
import stat
from dataclasses import field
from errno import EBADF, EINVAL, EISDIR, ENOSYS, ENOTTY, EOPNOTSUPP, EPERM, EXDEV
from fcntl import ioctl

from smlocal.channels.interface import Check, no_check
from smlocal.quick_dataclass import dataclass

_FICLONE = 0x40049409
_CHUNK = 256 << 20
_CANNOT = {EBADF, EINVAL, ENOSYS, ENOTTY, EOPNOTSUPP, EPERM, EXDEV}
"""How a kernel or file system says that it does not know a way of copying."""
FILE_MODE = 0o644


@dataclass(kw_only=True, slots=True)
class Duplicator:
    """Makes independent files and remembers from which devices reflinks are impossible."""

    check: Check = no_check
    """Called before each file, and now and then within a large one."""
    reflinked: int = 0
    bytes_copied: int = 0
    _cannot_clone: set[int] = field(default_factory=set)

    def duplicate(self, source: str, target: str) -> None:
        """Make `target` with the content of `source`, of the service's mode and of now."""
        self.check()
        # Non-blocking, because what was listed as a file may have become a FIFO since.
        reading = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(reading)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(EISDIR, "is no longer a regular file", source)
            writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
            try:
                os.fchmod(writing, FILE_MODE)  # whatever the umask
                if status.st_size and self._cloned(reading, writing, status.st_dev):
                    self.reflinked += 1
                else:
                    self.bytes_copied += _copy(reading, writing, self.check)
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
            if error.errno not in _CANNOT:
                raise
            self._cannot_clone.add(device)
            return False
        return True


def _copy(reading: int, writing: int, check: Check) -> int:
    """Copy from where both stand to the end, inside the kernel where it can."""
    copied = 0
    for way in (_by_range, _by_sendfile, _by_hand):
        try:
            while count := way(reading, writing):
                copied += count
                check()
        except OSError as error:
            if error.errno not in _CANNOT:
                raise
            continue
        if copied:
            return copied
        # Nothing at all may be the truth, or a file system on which this way reports an end at once: ask the next.
    return copied


def _by_range(reading: int, writing: int) -> int:
    return os.copy_file_range(reading, writing, _CHUNK)


def _by_sendfile(reading: int, writing: int) -> int:
    return os.sendfile(writing, reading, None, _CHUNK)


def _by_hand(reading: int, writing: int) -> int:
    data = os.read(reading, 1 << 20)
    left = memoryview(data)
    while left:
        left = left[os.write(writing, left) :]
    return len(data)
