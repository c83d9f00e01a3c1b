"""Reads objects one after the other, fetched ahead in parallel into bounded memory."""

import heapq
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

from smlocal.data.sources.s3.error_responses import checksum_mismatch
from smlocal.data.sources.s3.interface import Checksum, InterruptibleStore, ObjectStore, S3Error, S3Object

_LARGEST_PART = 4 << 20
_SMALLEST_PART = 64 << 10
_FIRST_PART = 1 << 20
"""For an object of unknown size, which is most likely small."""
_OVERHEAD = 1024
"""Memory per part beside its bytes."""
_MOST_AHEAD = 4096
"""The largest number of objects fetched ahead; an iterator of small ones may be endless."""


class StreamClosedError(Exception):
    """The stream was closed, maybe during a call."""


@dataclass(eq=False, slots=True)
class _Piece:
    """One part of an object; it is being fetched until it has `data` or `failure`."""

    start: int
    weight: int
    """Bytes of the budget."""
    data: bytearray | bytes | None = None
    length: int = 0
    failure: BaseException | None = None

    @property
    def is_ready(self) -> bool:
        return self.data is not None or self.failure is not None


@dataclass(eq=False, slots=True)
class _Entry:
    """An object in the stream."""

    number: int
    object: S3Object
    arrivals: "ReorderBuffer[_Arrival]"
    """Delivers pieces in order, so that each is added to the checksum while it is in memory."""
    cut: int = 0
    """The object has been cut into pieces up to this position."""
    pieces: deque[_Piece] = field(default_factory=deque)
    known: bool = False
    """Whether size and ETag are known."""
    skipped: bool = False
    checksum: Checksum = field(default_factory=lambda: Checksum(None))
    """For an object of several pieces; one that is fetched in one piece is checked there."""

    @property
    def is_cut(self) -> bool:
        """Whether all pieces are being fetched; of an object of unknown size, the first one."""
        return self.cut >= (self.object.size or 0) if self.known else self.cut > 0


@dataclass(eq=False, slots=True)
class _Arrival:
    """A piece that was fetched, or failed."""

    entry: _Entry
    piece: _Piece
    found: S3Object
    data: bytearray | bytes | None
    failure: BaseException | None


class ObjectStream:
    """For one reader; `close` may be called from any thread. No thread starts before the first call."""

    def __init__(
        self, store: ObjectStore, objects: Iterable[S3Object], *, budget: int = 64 << 20, threads: int = 8
    ) -> None:
        """Neither S3 nor `objects` is used before the first `open_next`; at most `budget` bytes are held."""
        self._store = store.until(lambda: self._closed) if isinstance(store, InterruptibleStore) else store
        self._objects = iter(objects)
        self._threads = threads
        self._part = max(_SMALLEST_PART, min(_LARGEST_PART, budget // (2 * threads)))
        # The piece that is being read and the one that may always be fetched are not counted.
        self._budget = max(budget - 2 * self._part, self._part)
        self._used = 0
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._room = threading.Condition(self._lock)
        self._entries: deque[_Entry] = deque()  # in order; the first is being read, or is next
        self._uncut: list[tuple[int, _Entry]] = []  # a heap of objects with parts that are not fetched yet
        self._spare: list[bytearray] = []
        self._count = 0
        self._unknown = 0  # objects of unknown size in the stream
        self._advancing = self._exhausted = False
        self._listing_error: BaseException | None = None
        self._thread_error: BaseException | None = None
        """The error that ended a thread; its piece will never be delivered."""
        self._reading: _Entry | None = None
        self._lent: _Piece | None = None
        self._started = self._closed = False

    def open_next(self) -> S3Object | None:
        """The next object with its size and ETag; None after the last. Skips the unread rest of the current one.

        After an `S3Error` the next call continues with the object after the failed one.
        """
        self._start()
        with self._lock:
            self._take_back()
            self._skip()
            while not self._entries and not self._exhausted and not self._closed and self._thread_error is None:
                self._arrived.wait()
            self._check()
            if not self._entries:
                if self._listing_error is not None:
                    raise self._listing_error
                return None
            entry = self._reading = self._entries[0]
            self._room.notify()
            if not entry.known:
                self._await_piece(entry)
            return entry.object

    def read(self) -> memoryview:
        """The next bytes of the object, empty at its end; valid until the next call."""
        with self._lock:
            self._take_back()
            self._check()
            entry = self._reading
            if entry is None or (entry.is_cut and not entry.pieces):
                return memoryview(b"")
            piece = self._await_piece(entry)
            entry.pieces.popleft()
            self._lent = piece
            self._room.notify()
            return memoryview(piece.data or b"")[: piece.length]

    def close(self) -> None:
        """Stop fetching and drop everything; waiting and later calls raise `StreamClosedError`."""
        with self._lock:
            self._closed = True
            self._entries.clear()
            self._uncut.clear()
            self._spare.clear()
            self._arrived.notify_all()
            self._room.notify_all()

    # For the reader, all called with the lock held.

    def _start(self) -> None:
        if not self._started:
            self._started = True
            for number in range(self._threads):
                threading.Thread(target=self._work, daemon=True, name=f"s3-ahead-{number}").start()

    def _check(self) -> None:
        if self._closed:
            raise StreamClosedError("the stream is closed")
        if self._thread_error is not None:
            raise self._thread_error

    def _await_piece(self, entry: _Entry) -> _Piece:
        """Wait for the next piece of an object, which may not have been started."""
        while not self._closed and self._thread_error is None and not (entry.pieces and entry.pieces[0].is_ready):
            self._arrived.wait()
        self._check()
        piece = entry.pieces[0]
        if piece.failure is not None:
            raise piece.failure
        return piece

    def _take_back(self) -> None:
        piece, self._lent = self._lent, None
        if piece is not None:
            self._release(piece)

    def _release(self, piece: _Piece) -> None:
        self._used -= piece.weight
        if isinstance(piece.data, bytearray) and len(piece.data) == self._part and not self._closed:
            self._spare.append(piece.data)
        piece.data = None
        self._room.notify()

    def _skip(self) -> None:
        """Skip the rest of the current object."""
        entry, self._reading = self._reading, None
        if entry is None or self._closed:
            return
        self._entries.popleft()
        entry.skipped = True
        for piece in entry.pieces:
            if piece.is_ready:
                self._release(piece)

    # For the fetching threads.

    def _work(self) -> None:
        try:
            self._fetch_all()
        except BaseException as error:  # noqa: BLE001 the reader of this thread's output must hear of it
            with self._lock:
                self._thread_error = self._thread_error or error
                self._arrived.notify_all()

    def _fetch_all(self) -> None:
        while (found := self._next()) is not None:
            entry, piece = found
            try:
                arrival = self._fetch(entry, piece)
            except BaseException as error:  # noqa: BLE001  it is raised where the reader meets it
                arrival = _Arrival(entry, piece, entry.object, None, error)
            entry.arrivals.add(piece.start, arrival)

    def _next(self) -> tuple[_Entry, _Piece] | None:
        with self._lock:
            while not self._closed:
                while self._uncut and self._uncut[0][1].skipped:
                    heapq.heappop(self._uncut)
                if self._uncut:
                    if (piece := self._cut(self._uncut[0][1])) is not None:
                        self._room.notify()  # there may be room for another piece or object
                        return piece
                elif self._is_done:
                    break
                elif not self._advancing and not self._exhausted and self._has_room:
                    self._advance()
                    continue
                self._room.wait()
            self._room.notify_all()
        return None

    @property
    def _is_done(self) -> bool:
        return self._exhausted and not self._uncut and not self._unknown

    @property
    def _has_room(self) -> bool:
        return self._used < self._budget and len(self._entries) < _MOST_AHEAD

    def _advance(self) -> None:
        """Take the next object from the iterator; called with the lock held, which is released meanwhile."""
        self._advancing = True
        self._lock.release()
        taken: S3Object | None = None
        trouble: BaseException | None = None
        try:
            taken = next(self._objects, None)
        except BaseException as error:  # noqa: BLE001  raised by `open_next`: the listing failed
            trouble = error
        finally:
            self._lock.acquire()
            self._advancing = False
        if taken is None:
            self._exhausted, self._listing_error = True, trouble
        else:
            arrivals = ReorderBuffer(self._arrive)
            entry = _Entry(self._count, taken, arrivals, known=taken.size is not None and taken.etag is not None)
            self._count += 1
            self._unknown += not entry.known
            self._entries.append(entry)
            if not entry.is_cut:
                heapq.heappush(self._uncut, (entry.number, entry))
        self._arrived.notify()

    def _cut(self, entry: _Entry) -> tuple[_Entry, _Piece] | None:
        """Take the next piece of an object if there is room, or if the reader waits for it."""
        part = self._part if entry.known else min(self._part, _FIRST_PART)
        size = part if entry.object.size is None else min(part, entry.object.size - entry.cut)
        weight = size + _OVERHEAD
        is_needed = entry is self._entries[0] and not entry.pieces
        if self._used + weight > self._budget and not is_needed:
            return None
        piece = _Piece(entry.cut, weight)
        self._used += weight
        entry.pieces.append(piece)
        entry.cut += max(size, 1)
        if entry.is_cut:
            heapq.heappop(self._uncut)
        return entry, piece

    def _fetch(self, entry: _Entry, piece: _Piece) -> _Arrival:
        size = piece.weight - _OVERHEAD
        if not entry.known:
            found, data = self._store.read_first(entry.object, size)
            return _Arrival(entry, piece, found, data, None)
        buffer = self._buffer(size)
        with memoryview(buffer) as view:
            count = self._store.read_into(entry.object, piece.start, view[:size])
        if count < size:
            text = f"The object ended after {piece.start + count} bytes"
            raise S3Error("IncompleteBody", text, status=200, uri=entry.object.uri, operation="GetObject")
        return _Arrival(entry, piece, entry.object, buffer, None)

    def _buffer(self, size: int) -> bytearray:
        if size == self._part:
            with self._lock:
                if self._spare:
                    return self._spare.pop()
        return bytearray(size)

    def _arrive(self, arrival: _Arrival) -> int:
        entry, piece = arrival.entry, arrival.piece
        size = piece.weight - _OVERHEAD
        if not entry.known:
            size = min(len(arrival.data or b""), size)
        try:
            if arrival.data is not None and not entry.skipped:
                self._add_to_checksum(entry, arrival.found, piece.start, memoryview(arrival.data)[:size])
        except BaseException as error:  # noqa: BLE001  as above
            arrival.data, arrival.failure = None, error
        self._deliver(arrival)
        return piece.start + size

    def _add_to_checksum(self, entry: _Entry, found: S3Object, start: int, data: memoryview) -> None:
        """Add one of several pieces; the last one is delivered only if the checksum matches."""
        is_last = start + len(data) == found.size
        if start == 0:
            if is_last:
                return
            entry.checksum = self._store.checksum(found)
        entry.checksum.update(data)
        if is_last and not entry.checksum.matches:
            raise checksum_mismatch(found.uri)

    def _deliver(self, arrival: _Arrival) -> None:
        entry, piece = arrival.entry, arrival.piece
        with self._lock:
            piece.data, piece.failure = arrival.data, arrival.failure
            piece.length = min(len(piece.data or b""), piece.weight - _OVERHEAD)
            self._unknown -= not entry.known
            if entry.skipped or self._closed:
                self._release(piece)
                return
            if not entry.known and piece.failure is None:
                self._set_size(entry, piece, arrival.found)
            if self._entries and self._entries[0] is entry:
                self._arrived.notify()

    def _set_size(self, entry: _Entry, piece: _Piece, found: S3Object) -> None:
        """The first response has the object's size."""
        self._used -= piece.weight - _OVERHEAD - piece.length
        piece.weight = piece.length + _OVERHEAD
        entry.object, entry.known = found, True
        entry.cut = piece.length
        if not entry.is_cut:
            heapq.heappush(self._uncut, (entry.number, entry))
        self._room.notify_all()


# Handles items in the order of their positions, though threads finish them in any order.

_T = TypeVar("_T")


class ReorderBuffer(Generic[_T]):
    """Safe to use from many threads. When all calls of `add` have returned, every item that can be handled has been."""

    def __init__(self, handle: Callable[[_T], int]) -> None:
        """`handle` is called for one item at a time, first for the one at position 0; it returns the next position.

        If it raises, nothing is handled any more.
        """
        self._handle = handle
        self._next_position = 0
        self._waiting: dict[int, _T] = {}
        self._busy = False
        self._lock = Lock()

    def add(self, position: int, item: _T) -> None:
        """Handle the item and those that waited for it; or leave it to a thread that is handling, or will be."""
        with self._lock:
            self._waiting[position] = item
            if self._busy:
                return
            self._busy = True
        while (ready := self._next()) is not None:
            self._next_position = self._handle(ready)

    def _next(self) -> _T | None:
        with self._lock:
            found = self._waiting.pop(self._next_position, None)
            self._busy = found is not None
            return found
