"""The growing log of one host, in pieces that all streams at the same place share."""

import asyncio
import os
from collections import OrderedDict

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.page.topic import Topic, event
from smlocal.terms.log_view import LogView

LOOK_SECONDS = 0.1
"""How often a log is looked at: lines are shown in batches."""
_LONGEST_PIECE = 256 << 10
_MOST_PIECES = 8
"""That are kept. Most readers are at the end of the log, and want the same one."""


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
