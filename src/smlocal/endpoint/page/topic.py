"""The topics of open pages.

A topic is something that changes and that several streams show. It is looked at once for all, and only while there are
any.
"""

import asyncio
import os
import traceback
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.log_view import LogView


class Topic(ABC):
    """Streams give an event, which is set at each change. Used in one event loop."""

    def __init__(self) -> None:
        """Nothing is looked at before there is a reader."""
        self.readers: set[asyncio.Event] = set()
        self.over = False
        """True if it is not looked at any more: that failed, or the server is to end."""

    @abstractmethod
    async def look(self) -> None:
        """Look for changes until the last reader is gone, and tell them by `announce`."""

    def announce(self) -> None:
        """Wake all streams that show it."""
        for each in self.readers:
            each.set()


Kind = TypeVar("Kind", bound=Topic)


class Topics(Generic[Kind]):
    """The topics of one kind that are being read."""

    def __init__(self, log: Callable[[str], None]) -> None:
        """`log` is called with what goes wrong."""
        self._log = log
        self._open: dict[Hashable, tuple[Kind, asyncio.Task[None]]] = {}

    @contextmanager
    def reading(self, key: Hashable, make: Callable[[], Kind], news: asyncio.Event) -> Iterator[Kind]:
        """The topic with this key, which sets `news` at each change. It ends with its last reader."""
        if key not in self._open:
            topic = make()
            self._open[key] = (topic, asyncio.ensure_future(self._look(topic)))
        topic, task = self._open[key]
        topic.readers.add(news)
        try:
            yield topic
        finally:
            topic.readers.discard(news)
            if not topic.readers:
                task.cancel()
                del self._open[key]

    async def _look(self, topic: Topic) -> None:
        try:
            await topic.look()
        except Exception:  # noqa: BLE001 - what waits for it would wait for ever
            self._log(f"page: {traceback.format_exc()}")
            _end(topic)

    def release(self) -> None:
        """End all streams."""
        for topic, _ in self._open.values():
            _end(topic)

    def __len__(self) -> int:
        return len(self._open)


def _end(topic: Topic) -> None:
    topic.over = True
    topic.announce()


# Server-sent events: messages to a page that stays open.

BEGIN = b"retry: 1000\n\n"
"""How soon a browser connects again, in milliseconds."""
ALIVE = b": alive\n\n"
"""Says nothing, so that both sides notice when the other one is gone."""


def event(kind: str, text: bytes = b"", *, position: int | None = None) -> bytes:
    """One event. A browser that connects again tells the last position."""
    place = b"" if position is None else b"id: %d\n" % position
    return b"event: %s\n%sdata: %s\n\n" % (kind.encode(), place, text.replace(b"\n", b"\ndata: "))


def part_event(name: str, html: str) -> bytes:
    """A part of the page. Its name is the first line."""
    return event("part", f"{name}\n{html}".encode())


LOOK_SECONDS = 0.1
"""How often a log is looked at: lines are shown in batches."""
_LONGEST_PIECE = 256 << 10
_MOST_PIECES = 8
"""Pieces kept in memory. Most readers are at the end of the log and need the same piece."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A part of a log, as the service shows it."""

    event: bytes
    """The event that tells a page about it; empty if there is nothing to tell."""
    end: int
    """The position after it."""


class LogFeed(Topic):
    """Each reader keeps its own position, so a slow one does not delay others and nothing waits in memory for it."""

    def __init__(self, path: str) -> None:
        """The file need not be there yet."""
        super().__init__()
        self._path = path
        self.size = size_of(path)
        self._pieces: OrderedDict[tuple[int, int], asyncio.Task[Piece]] = OrderedDict()

    async def look(self) -> None:
        """Announce that the log has grown."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            size = size_of(self._path)
            if size != self.size:
                self.size = size
                self.announce()

    async def piece(self, start: int) -> Piece:
        """The next bytes after a position, as far as the log was seen."""
        key = (start, min(self.size, start + _LONGEST_PIECE))
        if key not in self._pieces:
            self._pieces[key] = asyncio.ensure_future(asyncio.to_thread(read_piece, self._path, *key))
            while len(self._pieces) > _MOST_PIECES:
                self._pieces.popitem(last=False)
        return await asyncio.shield(self._pieces[key])


def read_piece(path: str, start: int, end: int, *, last: bool = False) -> Piece:
    """These bytes of a log without an incomplete character at the end, or with it if it is the `last` piece."""
    try:
        with open(path, "rb", buffering=0) as log:
            data = os.pread(log.fileno(), max(0, end - start), start)
    except FileNotFoundError:
        data = b""
    view = LogView()
    text = view.feed(data, last=last)
    end = start + len(data) - view.kept
    return Piece(event=event("log", text, position=end) if text else b"", end=end)


def size_of(path: str) -> int:
    """The present size; 0 if there is no log yet."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Tail:
    """The end of a log."""

    text: str
    start: int
    end: int


def read_tail(path: str, *, lines: int) -> Tail:
    """The last lines of a log as it is now; fewer if they are long."""
    size = size_of(path)
    begin = max(0, size - _LONGEST_PIECE)
    try:
        with open(path, "rb", buffering=0) as log:
            data = os.pread(log.fileno(), size - begin, begin)
    except FileNotFoundError:
        data, begin = b"", 0
    ends = [position for position, byte in enumerate(data[:-1]) if byte == 0x0A]  # noqa: PLR2004 - a line end
    if len(ends) >= lines:
        cut = ends[-lines] + 1
    elif begin > 0 and ends:
        cut = ends[0] + 1  # the beginning of the first line was not read
    else:
        cut = 0
    view = LogView()
    text = view.feed(data[cut:])
    return Tail(text=text.decode(), start=begin + cut, end=begin + len(data) - view.kept)
