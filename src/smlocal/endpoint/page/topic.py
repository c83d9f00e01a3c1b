"""The topics of open pages.

A topic is something that changes and that several streams show. It is looked at once for all, and only while there are
any.
"""

import asyncio
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar


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
