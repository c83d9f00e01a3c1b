"""The streams of events of open pages, one for each page."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from typing import Any

from starlette.responses import StreamingResponse

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.page.live_views import JobsAsked, OpenJob, OpenJobs
from smlocal.endpoint.page.log_feed import LogFeed, read_piece, read_tail, size_of
from smlocal.endpoint.page.responses import DATA_HEADERS
from smlocal.endpoint.page.topic import ALIVE, BEGIN, Topics, event, part_event
from smlocal.endpoint.serving import Serving

_ALIVE_SECONDS = 15.0
TAIL_LINES = 500
"""That a page shows at first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogAsked:
    """Which log a page follows."""

    path: str
    start: int | None
    """From which position; None: from the last lines."""


class EventStream(StreamingResponse):
    """Ends when the client is gone, and then releases at once what its events were made of."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes]) -> None:
        """Send these events until there are no more."""
        super().__init__(events, headers=DATA_HEADERS)

    async def stream_response(self, send: Any) -> None:
        """As the original, but the iterator is closed also if the client is gone while something is sent."""
        events: Any = self.body_iterator
        async with aclosing(events):
            await super().stream_response(send)


class PageStreams:
    """All open pages of one server. What they show is read once for all."""

    def __init__(self, serving: Serving, token: str) -> None:
        """No page is open."""
        self.open = 0
        """How many streams there are."""
        self._serving = serving
        self._token = token
        self.jobs: Topics[OpenJob] = Topics(serving.log)
        self.lists: Topics[OpenJobs] = Topics(serving.log)
        self.logs: Topics[LogFeed] = Topics(serving.log)

    def release(self) -> None:
        """End them: the server is to end."""
        for each in (self.jobs, self.lists, self.logs):
            each.release()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1

    async def list_events(self, asked: JobsAsked) -> AsyncIterator[bytes]:
        """What changes in a list of jobs."""
        news, sent = asyncio.Event(), None
        yield BEGIN
        with self._counted(), self.lists.reading(asked, lambda: OpenJobs(self._serving, asked), news) as view:
            while not view.over:
                if view.html is not None and view.html != sent:
                    sent = view.html
                    yield part_event("jobs", sent)
                async for each in _next(news):
                    yield each

    async def job_events(self, name: str, asked: LogAsked | None) -> AsyncIterator[bytes]:
        """What changes on the page of a job, and the lines of one of its logs."""
        news = asyncio.Event()
        yield BEGIN
        with self._counted(), ExitStack() as stack:
            view = stack.enter_context(self.jobs.reading(name, lambda: OpenJob(self._serving, name, self._token), news))
            log = _NoLog()
            if asked is not None:
                feed = stack.enter_context(self.logs.reading(asked.path, lambda: LogFeed(asked.path), news))
                log = _LogReader(feed, asked)
            async for each in _job_news(view, log, news):
                yield each


async def _job_news(view: OpenJob, log: "_NoLog", news: asyncio.Event) -> AsyncIterator[bytes]:
    sent: dict[str, str] = {}
    for each in await log.begin():
        yield each
    while not (view.over or log.over):
        parts = view.parts
        for part, text in parts.html.items() if parts is not None else ():
            if sent.get(part) != text:
                sent[part] = text
                yield part_event(part, text)
        if (lines := await log.lines()) is not None:
            yield lines  # one piece at a time, so that a slow reader of the log sees the status too
        elif view.gone or (parts is not None and parts.ended):
            while (lines := await log.rest()) is not None:
                yield lines
            yield event("gone" if view.gone else "end")
            return
        else:
            async for each in _next(news):
                yield each


class _NoLog:
    """In place of a log, for pages that follow none."""

    @property
    def over(self) -> bool:
        """True if it cannot be read any more."""
        return False

    async def begin(self) -> list[bytes]:
        """What to tell first."""
        return []

    async def lines(self) -> bytes | None:
        """The next piece; None if there is none yet."""
        return None

    async def rest(self) -> bytes | None:
        """As `lines`, once the job has ended and the log is complete."""
        return None


class _LogReader(_NoLog):
    """One reader of a log, with a position of its own."""

    def __init__(self, feed: LogFeed, asked: LogAsked) -> None:
        self._feed = feed
        self._path = asked.path
        self._tail = asked.start is None
        self._position = asked.start or 0

    @property
    def over(self) -> bool:
        return self._feed.over

    async def begin(self) -> list[bytes]:
        if not self._tail:
            self._position = min(self._position, size_of(self._path))
            return []
        tail = await asyncio.to_thread(read_tail, self._path, lines=TAIL_LINES)
        self._position = tail.end
        return [event("restart"), event("log", tail.text.encode(), position=tail.end)]

    async def lines(self) -> bytes | None:
        if self._position >= self._feed.size:
            return None
        piece = await self._feed.piece(self._position)
        if piece.end == self._position:
            return None
        self._position = piece.end
        return piece.event

    async def rest(self) -> bytes | None:
        self._feed.size = size_of(self._path)
        lines = await self.lines()
        if lines is not None or self._position >= self._feed.size:
            return lines
        last = await asyncio.to_thread(read_piece, self._path, self._position, self._feed.size, last=True)
        self._position = last.end
        return last.event


async def _next(news: asyncio.Event) -> AsyncIterator[bytes]:
    """Wait for news; says something if there are none for long."""
    try:
        async with asyncio.timeout(_ALIVE_SECONDS):
            await news.wait()
    except TimeoutError:
        yield ALIVE
    news.clear()
