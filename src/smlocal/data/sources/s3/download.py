"""Downloads objects to files, in parallel over objects and over the parts of large ones."""

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import field
from errno import EINVAL, EISDIR, ENOTSUP, EPERM
from secrets import token_hex

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.error_responses import FetchCancelledError, checksum_mismatch
from smlocal.data.sources.s3.interface import Checksum, S3Object
from smlocal.data.sources.s3.object_stream import ReorderBuffer

PART = 16 << 20
THREADS = 8
_PIECE = 256 << 10
_POLL_SECONDS = 0.1
_STOP_SECONDS = 1.0


def download_all(
    store: S3Client,
    wanted: Iterable[tuple[S3Object, str]],
    *,
    threads: int = THREADS,
    part: int = PART,
    progress: Callable[[int, int], None] = lambda _bytes, _objects: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[S3Object]:
    """Write every object to its path, whose folder exists and whose name is free; return them with sizes and ETags.

    A file gets its name when it is complete and checked. `progress` is called in the calling thread with the bytes and
    objects since the last call; bytes are negative if they were wrong. Raises `S3Error`, `OSError` of the disk, or
    `FetchCancelledError` once `cancelled` returns true; complete files then stay, others do not.
    """
    download = _Download(store, iter(wanted), part)
    workers = [threading.Thread(target=download.work, daemon=True, name=f"s3-{n}") for n in range(threads)]
    try:
        for worker in workers:
            worker.start()
        while download.wait(_POLL_SECONDS):
            progress(*download.since_last())
            if cancelled():
                raise FetchCancelledError
        progress(*download.since_last())
    finally:
        # Also after Ctrl-C: stop all threads, and abandon those that wait for the network.
        download.stop()
        until = time.monotonic() + _STOP_SECONDS
        for worker in workers:
            if worker.ident is not None:
                worker.join(max(0.0, until - time.monotonic()))
        download.discard()
    return download.finished()


# A file that gets its name only when it is complete, so that a killed process leaves no partial file under it.

_MODE = 0o644
_COPIED_PIECE = 256 << 10
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
        self._file = _unnamed_file(folder)
        if self._file < 0:
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
        """Read the bytes written there; a piece is valid until the next one. ValueError as with `write`."""
        with self._lock:
            if self._file < 0:
                raise ValueError(f"{self.path} is closed")
            file = os.dup(self._file)  # so that `discard` does not wait for this
        try:
            buffer = memoryview(bytearray(min(length, _COPIED_PIECE)))
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


def _unnamed_file(folder: str) -> int:
    """Its descriptor; -1 if this system or file system has no such files."""
    file = -1
    if sys.platform == "linux":
        try:
            file = os.open(folder, os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, _MODE)
        except OSError as error:
            if error.errno not in _NO_UNNAMED_FILES:
                raise
    return file


@dataclass(eq=False, kw_only=True, slots=True)
class _File:
    """One object that is being downloaded."""

    number: int
    object: S3Object
    path: str
    file: NewFile | None = None
    left: int = 1
    """Parts that have not been received."""
    parts: "ReorderBuffer[_Part] | None" = None
    """Received parts, for the checksum; None for an object of one part."""
    checksum: Checksum = field(default_factory=lambda: Checksum(None))
    again: bool = False
    """True after the checksum did not match once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    of: _File
    start: int
    length: int


class _Download:
    """The state that the worker threads share."""

    def __init__(self, store: S3Client, wanted: Iterator[tuple[S3Object, str]], part: int) -> None:
        self._store = store.until(lambda: self._stopped)
        self._part = part
        self._wanted = wanted
        self._taking = threading.Lock()  # the iterator may request another page of a listing
        self._changed = threading.Condition()
        self._exhausted = False
        self._stopped = False
        self._parts: deque[_Part] = deque()
        self._active = 0
        self._open: set[_File] = set()
        self._found: list[S3Object] = []
        self._failure: BaseException | None = None
        self._bytes = self._objects = 0

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; False at the end."""
        with self._changed:
            if not self._is_over:
                self._changed.wait(seconds)
            return not self._is_over

    def since_last(self) -> tuple[int, int]:
        """Bytes and objects since the last call."""
        with self._changed:
            counted = self._bytes, self._objects
            self._bytes = self._objects = 0
            return counted

    def stop(self) -> None:
        """Let no thread begin anything more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def discard(self) -> None:
        """Discard all files that are not complete; a thread that still writes to one ends with an error."""
        with self._changed:
            files = [each.file for each in self._open if each.file is not None]
        for file in files:
            file.discard()

    def finished(self) -> list[S3Object]:
        """The objects; raises the first failure."""
        if self._failure is not None:
            raise self._failure
        return self._found

    def work(self) -> None:
        """Fetch parts until there are none left; run by each thread."""
        buffer = memoryview(bytearray(_PIECE))
        try:
            while (part := self._next()) is not None:
                found = self._fetch(part, buffer)
                self._set_size(part.of, found)
                if part.of.parts is not None:
                    part.of.parts.add(part.start, part)
                self._finish_part(part, found)
        except BaseException as error:  # noqa: BLE001  it is raised in the calling thread
            with self._changed:
                self._failure = self._failure or error
                self._changed.notify_all()

    @property
    def _is_over(self) -> bool:
        return self._failure is not None or (self._exhausted and not self._active and not self._parts)

    def _next(self) -> _Part | None:
        while True:
            with self._changed:
                while not self._parts and self._exhausted and self._active and not self._stopped:
                    self._changed.wait()  # an object of unknown size may have more parts
                if self._stopped or self._failure is not None or (self._exhausted and not self._parts):
                    return None
                if self._parts:
                    self._active += 1
                    return self._parts.popleft()
            with self._taking:
                self._take()

    def _take(self) -> None:
        """Cut the next object into parts."""
        if self._parts or self._exhausted:
            return  # another thread has done it
        wanted = next(self._wanted, None)
        with self._changed:
            if wanted is None:
                self._exhausted = True
                self._changed.notify_all()
                return
            file = _File(number=len(self._found), object=wanted[0], path=wanted[1])
            self._found.append(file.object)
            self._parts.append(_Part(of=file, start=0, length=self._part))
            if file.object.size is not None:
                self._cut(file)

    def _cut(self, file: _File) -> None:
        """Queue the parts after the first, when the size is known."""
        starts = range(self._part, file.object.size or 0, self._part)
        if starts:
            file.left += len(starts)
            file.parts = ReorderBuffer(self._add_up)
            self._parts.extend(_Part(of=file, start=start, length=self._part) for start in starts)
            self._changed.notify_all()

    def _fetch(self, part: _Part, buffer: memoryview) -> S3Object:
        file = self._file(part.of)
        for exactly in (False, True):
            with closing(self._store.open_range(part.of.object, part.start, part.length)) as reader:
                at, checksum = part.start, Checksum(None)
                while count := reader.fill(buffer):
                    if at == 0 and reader.headers:
                        checksum = self._store.checksum(reader.object, reader.headers, exactly=exactly)
                    file.write(buffer[:count], at)
                    checksum.update(buffer[:count])
                    at += count
                    self._count(count)
            if checksum.matches:
                return reader.object
            self._count(part.start - at)
        raise checksum_mismatch(part.of.object.uri)

    def _add_up(self, part: _Part) -> int:
        """Add a part to the checksum, read back from the file, which is still in the page cache."""
        of = part.of
        if part.start == 0:
            of.checksum = self._store.checksum(of.object, exactly=of.again)
        if of.checksum.is_known:
            for piece in self._file(of).pieces(part.start, part.length):
                of.checksum.update(piece)
        return part.start + part.length

    def _file(self, of: _File) -> NewFile:
        with self._changed:
            if of.file is not None:
                return of.file
            if self._stopped:
                raise FetchCancelledError
            of.file = NewFile(of.path)
            self._open.add(of)
            return of.file

    def _count(self, count: int) -> None:
        with self._changed:
            self._bytes += count

    def _set_size(self, file: _File, found: S3Object) -> None:
        """The first response has the object's size."""
        with self._changed:
            if file.object.size is None:
                file.object = found
                self._cut(file)

    def _fetch_again(self, file: _File) -> None:
        """Fetch the whole object once more: it is not known which part is wrong."""
        if file.again:
            raise checksum_mismatch(file.object.uri)
        file.again = True
        size = file.object.size or 0
        with self._changed:
            self._bytes -= size
            file.left = 1
            self._parts.append(_Part(of=file, start=0, length=self._part))
            self._cut(file)

    def _finish_part(self, part: _Part, found: S3Object) -> None:
        file = part.of
        with self._changed:
            file.left -= 1
            complete = not file.left
        if complete and not file.checksum.matches:
            self._fetch_again(file)
            complete = False
        if complete:
            self._file(file).publish()
        with self._changed:
            self._active -= 1
            if complete:
                self._objects += 1
                self._open.discard(file)
                # Keep the same object if nothing is new: there may be a million.
                if found != self._found[file.number]:
                    self._found[file.number] = found
            if self._is_over:
                self._changed.notify_all()
