"""Objects to files, in parallel over objects and over the parts of large ones."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import field

from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.checksum import Checksum
from smlocal.sources.s3.client import S3Client
from smlocal.sources.s3.error_responses import damaged
from smlocal.sources.s3.interface import S3Object
from smlocal.sources.s3.new_file import NewFile
from smlocal.sources.s3.reorder_buffer import ReorderBuffer
from smlocal.sources.s3.retry import FetchCancelledError

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

    A file has its name only when it is whole and verified. `progress` is told, in the calling thread, how many bytes
    and objects have come since it was last told (fewer than none when bytes proved wrong). Raises `S3Error`, `OSError`
    of the disk, or `FetchCancelledError` once `cancelled` says so; whole files then stay, and nothing else does.
    """
    download = _Download(store, iter(wanted), part)
    workers = [threading.Thread(target=download.work, daemon=True, name=f"s3-{n}") for n in range(threads)]
    try:
        for worker in workers:
            worker.start()
        while download.wait(_POLL_SECONDS):
            progress(*download.taken())
            if cancelled():
                raise FetchCancelledError
        progress(*download.taken())
    finally:
        # Whatever has happened, Ctrl-C too: nobody goes on, and who hangs on the network is left to hang.
        download.stop()
        until = time.monotonic() + _STOP_SECONDS
        for worker in workers:
            if worker.ident is not None:
                worker.join(max(0.0, until - time.monotonic()))
        download.forget()
    return download.finished()


@dataclass(eq=False, kw_only=True, slots=True)
class _File:
    """One object on its way to its file."""

    number: int
    object: S3Object
    path: str
    file: NewFile | None = None
    left: int = 1
    """Parts that have not come yet."""
    parts: "ReorderBuffer[_Part] | None" = None
    """Those that have come, on their way into the checksum; None for an object of one part."""
    checksum: Checksum = field(default_factory=lambda: Checksum(None))
    again: bool = False
    """The bytes that came first proved wrong."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    of: _File
    start: int
    length: int


class _Download:
    """What the workers share."""

    def __init__(self, store: S3Client, wanted: Iterator[tuple[S3Object, str]], part: int) -> None:
        self._store = store.until(lambda: self._stopped)
        self._part = part
        self._wanted = wanted
        self._taking = threading.Lock()  # the iterator may have to ask for another page of a listing
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
        """Wait for the end, so many seconds at most; False when it has come."""
        with self._changed:
            if not self._is_over:
                self._changed.wait(seconds)
            return not self._is_over

    def taken(self) -> tuple[int, int]:
        """Bytes and objects since the last call."""
        with self._changed:
            taken = self._bytes, self._objects
            self._bytes = self._objects = 0
            return taken

    def stop(self) -> None:
        """Let nobody begin anything more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def forget(self) -> None:
        """Let go of all files that are not whole; who still writes to one meets an error, and nobody hears of it."""
        with self._changed:
            files = [each.file for each in self._open if each.file is not None]
        for file in files:
            file.discard()

    def finished(self) -> list[S3Object]:
        """What was asked for; raises what went wrong first."""
        if self._failure is not None:
            raise self._failure
        return self._found

    def work(self) -> None:
        """Fetch until there is no more: what each thread does."""
        buffer = memoryview(bytearray(_PIECE))
        try:
            while (part := self._next()) is not None:
                found = self._fetch(part, buffer)
                self._learn(part.of, found)
                if part.of.parts is not None:
                    part.of.parts.download_channel(part.start, part)
                self._come(part, found)
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
                    self._changed.wait()  # an object of unknown size may turn out to have more parts
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
            return  # somebody else was faster
        taken = next(self._wanted, None)
        with self._changed:
            if taken is None:
                self._exhausted = True
                self._changed.notify_all()
                return
            file = _File(number=len(self._found), object=taken[0], path=taken[1])
            self._found.append(file.object)
            self._parts.append(_Part(of=file, start=0, length=self._part))
            if file.object.size is not None:
                self._cut(file)

    def _cut(self, file: _File) -> None:
        """Have the parts behind the first fetched, too, once it is known how many there are."""
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
        raise damaged(part.of.object.uri)

    def _add_up(self, part: _Part) -> int:
        """Add a part of many to the checksum, from the file, where the system still has it in memory."""
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

    def _learn(self, file: _File, found: S3Object) -> None:
        """The first answer has told how large the object is."""
        with self._changed:
            if file.object.size is None:
                file.object = found
                self._cut(file)

    def _fetch_again(self, file: _File) -> None:
        """All of it, once: nobody knows which part is wrong."""
        if file.again:
            raise damaged(file.object.uri)
        file.again = True
        size = file.object.size or 0
        with self._changed:
            self._bytes -= size
            file.left = 1
            self._parts.append(_Part(of=file, start=0, length=self._part))
            self._cut(file)

    def _come(self, part: _Part, found: S3Object) -> None:
        file = part.of
        with self._changed:
            file.left -= 1
            whole = not file.left
        if whole and not file.checksum.matches:
            self._fetch_again(file)
            whole = False
        if whole:
            self._file(file).publish()
        with self._changed:
            self._active -= 1
            if whole:
                self._objects += 1
                self._open.discard(file)
                # The same object where nothing new is known: there may be a million.
                if found != self._found[file.number]:
                    self._found[file.number] = found
            if self._is_over:
                self._changed.notify_all()
