"""A file that has its name only once it is whole: whoever dies half-way leaves nothing under it, or nothing at all."""

import os
import threading
from collections.abc import Generator
from contextlib import suppress
from errno import EINVAL, EISDIR, ENOTSUP, EPERM
from secrets import token_hex

_MODE = 0o644
_PIECE = 256 << 10
_NO_NAMELESS = {EINVAL, EISDIR, ENOTSUP}
_NO_LINKS = {ENOTSUP, EPERM}


class NewFile:
    """Written anywhere, by several threads; ends by `publish` or `discard`."""

    def __init__(self, path: str) -> None:
        """A file without a name in the folder of `path`; on file systems that have none such, with a passing one."""
        self.path = path
        folder = os.path.dirname(path) or "."
        self._passing = ""
        self._lock = threading.Lock()
        try:
            self._file = os.open(folder, os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, _MODE)
        except OSError as error:
            if error.errno not in _NO_NAMELESS:
                raise
            self._passing = f"{folder}/.smlocal-{token_hex(8)}"
            self._file = os.open(self._passing, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
        os.fchmod(self._file, _MODE)  # whatever the umask

    def write(self, data: memoryview, at: int) -> None:
        """Write all of `data` from `at` on; ValueError when the file has been discarded meanwhile."""
        while data:
            # The file system lets only one write into a file at a time anyway.
            with self._lock:
                if self._file < 0:
                    raise ValueError(f"{self.path} is closed")
                count = os.pwrite(self._file, data, at)
            data = data[count:]
            at += count

    def pieces(self, start: int, length: int) -> Generator[memoryview, None, None]:
        """What was written there; a piece is valid until the next is asked for. ValueError as with `write`."""
        with self._lock:
            if self._file < 0:
                raise ValueError(f"{self.path} is closed")
            file = os.dup(self._file)  # whoever discards it must not have to wait
        try:
            buffer = memoryview(bytearray(min(length, _PIECE)))
            end = start + length
            while start < end and (count := os.preadv(file, [buffer[: end - start]], start)):
                yield buffer[:count]
                start += count
        finally:
            os.close(file)

    def publish(self) -> None:
        """Give it its name, which must be free, and close it."""
        with self._lock:
            if self._file < 0:
                raise ValueError(f"{self.path} is closed")
            if self._passing:
                self._rename()
            else:
                # Only with a folder's descriptor, though none is needed, does Python call what follows the link.
                source = f"/proc/self/fd/{self._file}"
                os.link(source, self.path, src_dir_fd=self._file, follow_symlinks=True)
            self._close()

    def discard(self) -> None:
        """Close it, and forget it if it has no name yet; may be called again, and from any thread."""
        with self._lock:
            if self._file >= 0 and self._passing:
                with suppress(FileNotFoundError):
                    os.unlink(self._passing)
            self._close()

    def _rename(self) -> None:
        try:
            os.link(self._passing, self.path)
        except OSError as error:
            if error.errno not in _NO_LINKS or os.path.lexists(self.path):
                raise
            os.rename(self._passing, self.path)
        else:
            os.unlink(self._passing)

    def _close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)
