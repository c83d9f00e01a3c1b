"""The file system of a FastFile channel, independent of FUSE: errors are `OSError`, and data is in a bounded cache."""

import mmap
import sys
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import field
from errno import EBADF, EIO, ENOENT, ENOTDIR
from itertools import count
from threading import Condition, Event, Lock, Thread
from typing import TypeVar

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.channels.fastfile.tree import Node, Tree, Unread
from smlocal.data.sources.s3.interface import ObjectStore, S3Error, S3Object

CAPACITY = 96 << 20
_FETCHERS = 8
"""Threads that fetch ahead; as many again fetch only what a reader waits for."""
_STALE = 10.0
"""Data that was fetched ahead and not read for this many seconds may be dropped for another reader."""
_REPEAT_ERROR = 2.0
"""The kernel repeats a failed read: for this many seconds the same error is returned at once."""
_MAX_ERRORS = 4096
_FETCH_SECONDS = 2.0
"""How long a fetch should take at most: its reader waits for all of it."""
_INITIAL_RATE = 512 << 10
"""Bytes per second, until a fetch was measured."""
_SPARE = 4
"""Buffers of the largest size that are kept for reuse: their pages exist already."""

Fetch = Callable[[int, int, memoryview], None]
"""Fills a buffer from a position in an object, or raises."""
Put = Callable[[int, memoryview], None]
"""Takes a position in the result, and the piece to put there."""


@dataclass(eq=False, kw_only=True, slots=True)
class _Span:
    """Some consecutive cells of one object."""

    file: int
    start: int
    end: int
    buffer: memoryview
    created: float
    done: Event = field(default_factory=Event)
    begun: bool = False
    error: Exception | None = None
    """Why it could not be fetched."""
    readers: int = 0
    read: bool = False
    """Whether it was read to its end, or requested by a reader."""


class Blocks:
    """A cache that fetches missing data; safe to use from many threads."""

    def __init__(self, fetch: Fetch, *, read_seconds: float, capacity: int = CAPACITY) -> None:
        """No thread starts before the first read; every read ends within `read_seconds`."""
        self._fetch = fetch
        self._read_seconds = read_seconds
        self._capacity = capacity
        self._held = 0
        self._spans: OrderedDict[_Span, None] = OrderedDict()
        """The least recently used first."""
        self._cells: dict[tuple[int, int], _Span] = {}
        self._spare: list[memoryview] = []
        self._failures: OrderedDict[tuple[int, int], float] = OrderedDict()
        self._wanted: deque[_Span] = deque()
        self._ahead: dict[_Span, None] = {}
        """In order; only those that no reader waits for."""
        self._lock = Lock()
        self._any_work = Condition(self._lock)
        self._urgent_work = Condition(self._lock)
        self._threads = 0
        self._seconds_a_byte = 1 / _INITIAL_RATE

    def read(self, file: int, start: int, end: int, size: int, put: Put) -> None:
        """Pass the bytes from `start` to `end` of an object of `size` bytes to `put`, or raise `OSError`.

        The cause of the error is what `fetch` raised; a repeated read gets an error without a cause.
        """
        deadline = time.monotonic() + self._read_seconds
        with self._lock:
            spans = self._pinned(file, start, end, size)
        try:
            for span in spans:
                if not span.done.wait(max(0, deadline - time.monotonic())):
                    span.error = TimeoutError(f"no answer from S3 within {self._read_seconds:g} s")
                if span.error is not None:
                    self._record_error(span)
                    raise OSError(EIO, "the object could not be read") from span.error
                first, last = max(start, span.start), min(end, span.end)
                put(first - start, span.buffer[first - span.start : last - span.start])
        finally:
            with self._lock:
                for span in spans:
                    span.readers -= 1

    def fetch_ahead(self, file: int, start: int, end: int, size: int) -> bool:
        """Queue a range to be fetched; False if there is no room for it now."""
        with self._lock:
            for first, last in self._missing(file, start, end, size):
                if not self._make_room(last - first, urgent=False):
                    return False
                self._ahead[self._add(file, first, last)] = None
                self._start_threads()
                self._any_work.notify()
        return True

    def cancel_ahead(self, file: int) -> None:
        """Drop data that was fetched ahead of an object that has no reader any more."""
        with self._lock:
            for span in [span for span in self._spans if span.file == file and not span.read]:
                if span.done.is_set() and not span.readers:
                    self._drop(span)
                elif not span.begun and not span.readers:
                    self._ahead.pop(span, None)  # a reader that gave up may have wanted it
                    span.begun = True
                    self._drop(span)

    @property
    def at_once(self) -> int:
        """How many bytes a fetch may have to take about two seconds, at the measured rate."""
        return int(_FETCH_SECONDS / self._seconds_a_byte)

    @property
    def held(self) -> int:
        """Bytes in memory."""
        return self._held

    def _pinned(self, file: int, start: int, end: int, size: int) -> list[_Span]:
        """Every span of the read, protected from being dropped; missing ones are queued."""
        self._raise_recent_error(file, start, end)
        missing = self._missing(file, start, end, size)
        spans = list(dict.fromkeys(span for cell in _cells(start, end) if (span := self._cells.get((file, cell)))))
        for span in spans:
            self._pin(span, end)  # before others are dropped to make room
        for first, last in missing:
            self._make_room(last - first, urgent=True)
            spans.append(self._add(file, first, last))
            self._pin(spans[-1], last)
        return spans

    def _pin(self, span: _Span, end: int) -> None:
        span.readers += 1
        span.read = span.read or end >= span.end
        self._spans.move_to_end(span)
        if not span.begun:  # it is new, or was queued to be fetched ahead
            self._ahead.pop(span, None)
            self._wanted.append(span)
            self._start_threads()
            self._any_work.notify()
            self._urgent_work.notify()

    def _missing(self, file: int, start: int, end: int, size: int) -> list[tuple[int, int]]:
        runs: list[tuple[int, int]] = []
        for cell in _cells(start, end):
            if (file, cell) in self._cells:
                continue
            first, last = cell * CELL, min(size, (cell + 1) * CELL)
            if runs and runs[-1][1] == first:
                runs[-1] = (runs[-1][0], last)
            else:
                runs.append((first, last))
        return runs

    def _add(self, file: int, start: int, end: int) -> _Span:
        buffer = self._buffer(end - start)
        span = _Span(file=file, start=start, end=end, buffer=buffer, created=time.monotonic())
        self._held += end - start
        self._spans[span] = None
        for cell in _cells(start, end):
            self._cells[file, cell] = span
        return span

    def _drop(self, span: _Span) -> None:
        if span not in self._spans:
            return
        del self._spans[span]
        self._held -= span.end - span.start
        for cell in _cells(span.start, span.end):
            del self._cells[span.file, cell]

    def _buffer(self, length: int) -> memoryview:
        if length == CHUNK and self._spare:
            return self._spare.pop()
        # A bytearray would be zeroed, and kept by the allocator.
        pages = mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if sys.platform == "linux" and length == CHUNK:
            pages.madvise(mmap.MADV_HUGEPAGE)
        return memoryview(pages)

    def _make_room(self, needed: int, *, urgent: bool) -> bool:
        """Drop data that is least likely to be read again; urgent data is fetched even if nothing can be dropped."""
        stale = time.monotonic() - _STALE
        self._drop_until(needed, lambda span: span.read or span.created < stale)
        if urgent:  # then also data that others are about to read
            self._drop_until(needed, lambda _: True)
        return urgent or self._held + needed <= self._capacity

    def _drop_until(self, needed: int, may_go: Callable[[_Span], bool]) -> None:
        if self._held + needed <= self._capacity:
            return
        for span in list(self._spans):
            if span.readers or not span.done.is_set() or not may_go(span):
                continue
            self._drop(span)
            if span.end - span.start == CHUNK and len(self._spare) < _SPARE:
                self._spare.append(span.buffer)
            if self._held + needed <= self._capacity:
                return

    def _record_error(self, span: _Span) -> None:
        with self._lock:
            self._drop(span)
            now = time.monotonic()
            for cell in _cells(span.start, span.end):
                self._failures[span.file, cell] = now
            while len(self._failures) > _MAX_ERRORS:
                self._failures.popitem(last=False)

    def _raise_recent_error(self, file: int, start: int, end: int) -> None:
        if not self._failures:
            return
        now = time.monotonic()
        for cell in _cells(start, end):
            when = self._failures.pop((file, cell), None)
            if when is not None and when > now - _REPEAT_ERROR:
                self._failures[file, cell] = when
                raise OSError(EIO, "the object could not be read a moment ago")

    def _start_threads(self) -> None:
        while self._threads < 2 * _FETCHERS:
            Thread(target=self._work, kwargs={"ahead_too": self._threads < _FETCHERS}, daemon=True).start()
            self._threads += 1

    def _work(self, *, ahead_too: bool) -> None:
        while True:
            span = self._next(ahead_too=ahead_too)
            began = time.monotonic()
            try:
                self._fetch(span.file, span.start, span.buffer)
                if len(span.buffer) >= CELL:  # small fetches measure the latency, not the rate
                    took = (time.monotonic() - began) / len(span.buffer)
                    self._seconds_a_byte += (took - self._seconds_a_byte) / 4
            except Exception as error:  # noqa: BLE001 - the reader gets EIO, and this thread continues
                with self._lock:
                    span.error = error
                    self._drop(span)
            span.done.set()

    def _next(self, *, ahead_too: bool) -> _Span:
        with self._lock:
            while True:
                if ahead_too and self._ahead:
                    span = next(
                        iter(self._ahead)
                    )  # first: otherwise many small urgent reads would make all fetches small
                    del self._ahead[span]
                    span.begun = True
                    return span
                while self._wanted:
                    span = self._wanted.popleft()
                    if not span.begun:  # several readers may have queued it
                        span.begun = True
                        return span
                (self._any_work if ahead_too else self._urgent_work).wait()


def _cells(start: int, end: int) -> range:
    return range(start // CELL, -(-end // CELL))


# The ranges to fetch ahead: nothing for random reads, more and more for sequential ones.

CELL = 128 << 10
"""The smallest fetch; every fetch begins at a multiple of it."""
SLACK = 4 << 20
"""The kernel sends several reads at once, in any order: reads this far apart are still sequential."""
WINDOW = 64 << 20
CHUNK = 8 << 20
_SMALLEST_PIECE = 1 << 20
_AT_ONCE = 8
"""A window is fetched in this many pieces in parallel."""


@dataclass(kw_only=True, slots=True)
class Sequence:
    """How one open file has been read."""

    tail: int = 0
    """The furthest end of a read in this run."""
    run: int = 0
    """Bytes read in this run; 0 before the first read."""
    planned: int = 0
    """Everything before this position is being fetched."""

    def read(self, start: int, end: int) -> bool:
        """Record a read; True if it continues the ones before."""
        if self.run and abs(start - self.tail) <= SLACK:
            self.run += end - start
            self.tail = max(self.tail, end)
            self.planned = max(self.planned, self.tail)
            return True
        self.tail = self.planned = end
        self.run = end - start
        return False

    def pieces(self, size: int, share: int, at_once: int = CHUNK) -> list[tuple[int, int]]:
        """The ranges to fetch now of an object of `size` bytes, using at most `share` bytes of memory.

        Twice as much as was read in this run, so that little is lost if the reader stops. No piece is larger than
        `at_once`.
        """
        most = max(CELL, min(CHUNK, at_once))
        window = min(WINDOW, share, 2 * self.run, _AT_ONCE * most)
        # If many files share the memory, there are enough pieces anyway, and small ones are inefficient.
        wished = max(window // _AT_ONCE, min(window // 2, _SMALLEST_PIECE))
        chunk = max(CELL, _power_of_two(min(wished, most)))
        limit = min(size, self.tail + window)
        found = []
        start = self.planned
        while start < limit:
            end = min(size, (start // chunk + 1) * chunk)
            found.append((start, end))
            start = end
        return found


def _power_of_two(value: int) -> int:
    return 1 << max(0, value.bit_length() - 1)


_Opened = TypeVar("_Opened")

READ_SECONDS = 58.0
"""The time limit of a read: the documented limit is one minute."""
_ACTIVE = 10.0
"""Files that were read within this many seconds share the memory for reading ahead."""


class FileSystem:
    """The objects of an index in one bucket; safe to use from many threads."""

    def __init__(
        self,
        tree: Tree,
        store: ObjectStore,
        *,
        bucket: str,
        key_base: str,
        log: Callable[[str], None],
        unread: Callable[[Unread], None],
        read_seconds: float = READ_SECONDS,
    ) -> None:
        """`log` is told every failed fetch, `unread` every failed read: not everything fetched is read."""
        self.tree = tree
        self._store = store
        self._bucket = bucket
        self._key_base = key_base
        self._problem = log
        self._unread = unread
        self._blocks = Blocks(self._fetch, read_seconds=read_seconds)
        self._numbers = count(1)
        self._files: dict[int, tuple[Node, Sequence]] = {}
        self._folders: dict[int, tuple[bytes, Node]] = {}
        self._active: dict[int, float] = {}
        self._lock = Lock()

    def lookup(self, path: bytes) -> Node:
        """The node at `path`."""
        node = self.tree.lookup(path)
        if node is None:
            raise OSError(ENOENT, "no such object")
        return node

    def open(self, path: bytes) -> int:
        """Open a file; returns its handle."""
        handle = next(self._numbers)
        self._files[handle] = (self.lookup(path), Sequence())
        return handle

    def node(self, handle: int) -> Node:
        """The file that was opened."""
        return _opened(self._files, handle)[0]

    def read(self, handle: int, start: int, count: int, put: Put) -> int:
        """Pass up to `count` bytes from `start` on to `put`; returns their number."""
        node, sequence = _opened(self._files, handle)
        end = min(node.size, start + count)
        if end <= start:
            return 0
        with self._lock:
            pieces = self._pieces(handle, node, sequence, start, end)
        for first, last in pieces:
            if not self._blocks.fetch_ahead(node.index, first, last, node.size):
                break
            with self._lock:
                sequence.planned = max(sequence.planned, last)
        try:
            self._blocks.read(node.index, start, end, node.size, put)
        except OSError as error:
            if error.__cause__ is not None:
                self._unread(self._why(node, error.__cause__))
            raise
        return end - start

    def release(self, handle: int) -> None:
        """Close a file."""
        node, _ = self._files.pop(handle)
        with self._lock:
            self._active.pop(handle, None)
        if not any(other.index == node.index for other, _ in list(self._files.values())):
            self._blocks.cancel_ahead(node.index)

    def open_folder(self, path: bytes) -> int:
        """Open a folder; returns its handle."""
        node = self.lookup(path)
        if not node.folder:
            raise OSError(ENOTDIR, "an object is not a folder")
        handle = next(self._numbers)
        self._folders[handle] = (path, node)
        return handle

    def folder(self, handle: int) -> Node:
        """The folder that was opened."""
        return _opened(self._folders, handle)[1]

    def entries(self, handle: int, start: int) -> Iterator[tuple[bytes, Node, int]]:
        """Name, node and next position of every entry of a folder, from record `start` on."""
        path, node = _opened(self._folders, handle)
        return self.tree.children(path, max(start, node.index))

    def release_folder(self, handle: int) -> None:
        """Close a folder."""
        del self._folders[handle]

    def _pieces(self, handle: int, node: Node, sequence: Sequence, start: int, end: int) -> list[tuple[int, int]]:
        if not sequence.read(start, end):
            self._active.pop(handle, None)
            return []
        now = time.monotonic()
        self._active[handle] = now
        readers = sum(when > now - _ACTIVE for when in self._active.values())
        return sequence.pieces(node.size, WINDOW // readers, self._blocks.at_once)

    def _object(self, file: int) -> S3Object:
        etag, key = self.tree.etag_and_key(file, self._key_base)
        return S3Object(bucket=self._bucket, key=key, size=self.tree.size(file), etag=etag)

    def _fetch(self, file: int, start: int, buffer: memoryview) -> None:
        wanted = self._object(file)
        try:
            got = self._store.read_into(wanted, start, buffer)
        except S3Error as error:
            self._problem(f"{wanted.uri}: {error}")
            raise
        if got != len(buffer):
            text = f"it ended {len(buffer) - got} bytes too early"
            self._problem(f"{wanted.uri}: {text}")
            raise OSError(EIO, text)

    def _why(self, node: Node, cause: BaseException) -> Unread:
        code = cause.code if isinstance(cause, S3Error) else "RequestTimeout" if isinstance(cause, TimeoutError) else ""
        why = (cause.strerror if isinstance(cause, OSError) else None) or str(cause) or type(cause).__name__
        return Unread(uri=self._object(node.index).uri, code=code, why=why)


def _opened(table: dict[int, _Opened], handle: int) -> _Opened:
    found = table.get(handle)
    if found is None:
        raise OSError(EBADF, "it is not open")
    return found
