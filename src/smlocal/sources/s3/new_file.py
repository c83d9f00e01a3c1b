"""A file that gets its name only when it is complete, so that a killed process leaves no partial file under it."""

import os
import threading
from collections.abc import Generator
from contextlib import suppress
from errno import EINVAL, EISDIR, ENOTSUP, EPERM
from secrets import token_hex

_MODE = 0o644
_PIECE = 256 << 10
_NO_UNNAMED_FILES = {EINVAL, EISDIR, ENOTSUP}
_NO_LINKS = {ENOTSUP, EPERM}


class NewFile:
    """Several threads may write to it at any position; ends with `publish` or `discard`."""

    def __init__(self, path: str) -> None:
        """Create a file without a name in the folder of `path`, or with a temporary one if it must have one."""
        self.path = path
        folder = os.path.dirname(path) or "."
        self._temporary = ""
        self._lock = threading.Lock()
        try:
            self._file = os.open(folder, os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, _MODE)
        except OSError as error:
            if error.errno not in _NO_UNNAMED_FILES:
                raise
            self._temporary = f"{folder}/.smlocal-{token_hex(8)}"
            self._file = os.open(self._temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
        os.fchmod(self._file, _MODE)  # whatever the umask

    def write(self, data: memoryview, at: int) -> None:
        """Write all of `data` at position `at`; ValueError if the file was discarded meanwhile."""
        while data:
            # The file system allows only one write at a time anyway.
            with self._lock:
                if self._file < 0:
                    raise ValueError(f"{self.path} is closed")
                count = os.pwrite(self._file, data, at)
            data = data[count:]
            at += count

    def pieces(self, start: int, length: int) -> Generator[memoryview, None, None]:
        """Read what was written there; a piece is valid until the next one. ValueError as with `write`."""
        with self._lock:
            if self._file < 0:
                raise ValueError(f"{self.path} is closed")
            file = os.dup(self._file)  # so that `discard` does not wait for this
        try:
            buffer = memoryview(bytearray(min(length, _PIECE)))
            end = start + length
            while start < end and (count := os.preadv(file, [buffer[: end - start]], start)):
                yield buffer[:count]
                start += count
        finally:
            os.close(file)

    def publish(self) -> None:
        """Give the file its name, which must be free, and close it."""
        with self._lock:
            if self._file < 0:
                raise ValueError(f"{self.path} is closed")
            if self._temporary:
                self._rename()
            else:
                # Python follows the link only if a directory descriptor is given, which is not used.
                source = f"/proc/self/fd/{self._file}"
                os.link(source, self.path, src_dir_fd=self._file, follow_symlinks=True)
            self._close()

    def discard(self) -> None:
        """Close the file, and delete it if it has no name yet; may be called again, and from any thread."""
        with self._lock:
            if self._file >= 0 and self._temporary:
                with suppress(FileNotFoundError):
                    os.unlink(self._temporary)
            self._close()

    def _rename(self) -> None:
        try:
            os.link(self._temporary, self.path)
        except OSError as error:
            if error.errno not in _NO_LINKS or os.path.lexists(self.path):
                raise
            os.rename(self._temporary, self.path)
        else:
            os.unlink(self._temporary)

    def _close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)
