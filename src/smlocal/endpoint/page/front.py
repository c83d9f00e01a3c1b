"""Answers browsers: which request is for which part of the page, who has logged in, and the effect of a form."""

import asyncio
import hmac
import re
import secrets
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, aclosing, contextmanager
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files as files_of
from typing import Any
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from smlocal.api.job_source import read_document, read_text
from smlocal.api.stopping import stop
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.call import ServiceError
from smlocal.endpoint.large_requests import BodyTooLargeError, BodyTooSlowError, read_body
from smlocal.endpoint.page.addresses import LOGIN, PREFIX, job_address, page_key
from smlocal.endpoint.page.live_views import (
    DATA_HEADERS,
    KINDS_SHOWN,
    STATUSES,
    JobsAsked,
    OpenJob,
    OpenJobs,
    artifact,
    html,
    job_parts,
    jobs_page,
    moved,
    own_file,
    problem,
    whole_log,
)
from smlocal.endpoint.page.topic import ALIVE, BEGIN, LogFeed, Topics, event, part_event, read_piece, read_tail, size_of
from smlocal.endpoint.protocol.query import form_fields
from smlocal.endpoint.sagemaker.creating import with_data
from smlocal.endpoint.sagemaker.job_operations import limit_to_rights, start
from smlocal.endpoint.serving import Serving
from smlocal.endpoint.signature import Signatures
from smlocal.errors import JobFinishedError, JobUnknownError, SmlocalError
from smlocal.jobs.logs.log_readers import host_logs
from smlocal.report.page import render
from smlocal.sagemaker.training.planning import waiting_job

_STYLE = f"{PREFIX}style.css"
_MOST_STREAMS = 500
_LONGEST_POSITION = 18
"""Digits."""
Handler = Callable[..., Awaitable[Response]]


class PageFront:
    """The page of one server."""

    def __init__(self, serving: Serving, signatures: Signatures | None = None) -> None:
        """Its forms have a token of this run of the server. With `signatures`, one has to log in."""
        self._serving = serving
        self._key = None if signatures is None else page_key(signatures)
        self._token = secrets.token_urlsafe(32)
        self.streams = PageStreams(serving, self._token)
        job = f"{PREFIX}jobs/(?P<name>[^/]+)"
        self._routes: list[tuple[str, re.Pattern[str], Handler]] = [
            (method, re.compile(path, re.DOTALL), handler)
            for method, path, handler in (
                ("GET", "/", self._jobs),
                ("GET", f"{PREFIX}jobs.events", self._jobs_events),
                ("GET", job, self._job),
                ("GET", f"{job}/events", self._job_events),
                ("GET", f"{job}/logs/(?P<host>[^/]+)", self._log),
                ("GET", f"{job}/artifacts/(?P<kind>[a-z]+)(?:/(?P<member>.+))?", self._artifact),
                ("POST", f"{job}/stop", self._stop),
                ("GET", f"{PREFIX}new", self._new),
                ("POST", f"{PREFIX}new", self._start),
                ("GET", LOGIN, self._login),
                ("GET", _STYLE, self._style),
                ("GET", f"{PREFIX}page.js", self._script),
            )
        ]

    async def answer(self, request: Request) -> Response:
        """The response to a browser."""
        try:
            return await self._answer(request)
        except JobUnknownError:
            return await _missing("There is no such job.")
        except ServiceError as error:
            return await _problem(error.message, status=error.status)
        except SmlocalError as error:
            self._serving.log(f"page: {error.sentence} {' '.join(error.details)}")
            return await _problem(error.sentence, status=500, details=error.remedy)
        except (BodyTooLargeError, BodyTooSlowError, ClientDisconnect):
            raise
        except Exception:  # noqa: BLE001 - told to the owner of the server, not to the client
            self._serving.log(f"page: {traceback.format_exc()}")
            return await _problem("The server has met an unexpected error.", status=500)

    async def _answer(self, request: Request) -> Response:
        path, asked = request.scope["path"], "GET" if request.method == "HEAD" else request.method
        if self._key is not None and path not in {LOGIN, _STYLE} and not is_logged_in(request, self._key):
            return await _closed()
        found = [(method, given, act) for method, known, act in self._routes if (given := known.fullmatch(path))]
        for method, given, act in found:
            if method == asked:
                return await act(request, **given.groupdict())
        return await _problem("This address does not accept this request.", status=405) if found else await _missing()

    async def _jobs(self, request: Request) -> Response:
        return html(await run_in_threadpool(jobs_page, self._serving, _asked(request)))

    async def _jobs_events(self, request: Request) -> Response:
        return self._stream(self.streams.list_events(_asked(request)))

    async def _job(self, request: Request, name: str) -> Response:
        return html(await run_in_threadpool(self._job_page, name, _query(request).get("host")))

    def _job_page(self, name: str, host: str | None) -> str:
        logs = host_logs(self._serving.store, name)
        host = host if host in logs else next(iter(logs), None)  # a tuning job has no host
        tail = None if host is None else read_tail(logs[host], lines=TAIL_LINES)
        parts = job_parts(self._serving, name, self._token)
        return render(
            "live/job.html", parts=parts.html, address=job_address(name), hosts=list(logs), host=host, tail=tail
        )

    async def _job_events(self, request: Request, name: str) -> Response:
        logs = await run_in_threadpool(host_logs, self._serving.store, name)
        query = _query(request)
        path = logs.get(query.get("host", ""))
        start = request.headers.get("last-event-id", query.get("from", "0"))
        number = int(start) if re.fullmatch(f"[0-9]{{1,{_LONGEST_POSITION}}}", start) else None
        return self._stream(self.streams.job_events(name, None if path is None else LogAsked(path=path, start=number)))

    async def _log(self, _: Request, name: str, host: str) -> Response:
        return await run_in_threadpool(whole_log, self._serving, name, host) or await _missing()

    async def _artifact(self, _: Request, name: str, kind: str, member: str | None) -> Response:
        found = await run_in_threadpool(artifact, self._serving, name, kind, member or "")
        return found or await _missing("The job has no such file.")

    async def _stop(self, request: Request, name: str) -> Response:
        given = await run_in_threadpool(fields, await read_body(request))
        refused = refusal(request, given, self._token)
        if refused is not None:
            return await _problem(refused, status=403)
        await run_in_threadpool(stop_job, self._serving, name)
        return moved(job_address(name))

    async def _new(self, _: Request) -> Response:
        return html(await run_in_threadpool(render, "live/new.html", problem=None, document="", token=self._token))

    async def _start(self, request: Request) -> Response:
        given = await run_in_threadpool(fields, await read_body(request))
        refused = refusal(request, given, self._token)
        if refused is not None:
            return await _problem(refused, status=403)
        document = given.get("document", "").replace("\r\n", "\n")  # as browsers send it
        result = await run_in_threadpool(new_job, self._serving, document)
        if isinstance(result, str):
            return moved(result)
        page = await run_in_threadpool(render, "live/new.html", problem=result, document=document, token=self._token)
        return html(page, status=400)

    async def _login(self, request: Request) -> Response:
        if self._key is None:
            return moved("/")
        return logged_in(_query(request).get("key", ""), self._key) or await _closed()

    async def _style(self, _: Request) -> Response:
        return own_file((await run_in_threadpool(render, "live/style.css")).encode(), "text/css; charset=utf-8")

    async def _script(self, _: Request) -> Response:
        script = files_of("smlocal.endpoint.page").joinpath("page.js")
        return own_file(await run_in_threadpool(script.read_bytes), "text/javascript; charset=utf-8")

    def _stream(self, events: Any) -> Response:
        if self.streams.open >= _MOST_STREAMS:
            return PlainTextResponse("too many pages are open", status_code=503)
        return EventStream(events)


def _query(request: Request) -> Mapping[str, str]:
    return fields(request.scope["query_string"])


def _asked(request: Request) -> JobsAsked:
    query = _query(request)
    status, kind = query.get("status", ""), query.get("kind", "")
    return JobsAsked(
        name=query.get("name", "").strip(),
        status=status if status in STATUSES else "",
        kind=kind if kind in KINDS_SHOWN else "",
        after=query.get("after") or None,
    )


async def _closed() -> Response:
    return await _problem(
        "This page needs a login.",
        status=403,
        details=["Open it with the link that smlocal serve printed when it started."],
    )


async def _missing(sentence: str = "There is nothing at this address.") -> Response:
    return await _problem(sentence, status=404)


async def _problem(sentence: str, *, status: int, details: Any = ()) -> Response:
    return await run_in_threadpool(problem, sentence, status=status, details=details)


# Access to the page where other machines can reach it: for everyone who has opened the link that the server prints.

_COOKIE = "smlocal-page"


def is_logged_in(request: Request, key: str) -> bool:
    """True if the browser has the cookie."""
    try:
        cookie = SimpleCookie(request.headers.get("cookie", "")).get(_COOKIE)
    except CookieError:
        return False
    return cookie is not None and _same(cookie.value, key)


def logged_in(given: str, key: str) -> Response | None:
    """The answer to the link: the cookie, which no script can read and which pages of other sites do not send."""
    if not _same(given, key):
        return None
    response = moved("/")
    response.set_cookie(_COOKIE, key, httponly=True, samesite="strict")
    return response


def _same(given: str, key: str) -> bool:
    return hmac.compare_digest(given.encode(errors="surrogateescape"), key.encode())


# The forms. Only the page itself can send them: they want its origin, and the token that it has.

_DOCUMENT = "job file"
_MOST_FIELDS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Mistake:
    """The mistake in a form, and the remedy."""

    sentence: str
    details: tuple[str, ...] = ()
    remedy: tuple[str, ...] = ()


def fields(body: bytes) -> Mapping[str, str]:
    """The fields of a form, or of a query; none if it is not one."""
    try:
        found = form_fields(body, most=_MOST_FIELDS)
    except ValueError:
        return {}
    return dict(reversed(found))  # of a name that is there twice, the first


def refusal(request: Request, given: Mapping[str, str], token: str) -> str | None:
    """Why a form is not accepted; None if it is from a page of this server."""
    origin = request.headers.get("origin", "")
    if urlsplit(origin).netloc != request.headers.get("host"):
        return "This form was not sent by a page of this server."
    if not hmac.compare_digest(given.get("token", "").encode(), token.encode()):
        return "The server was started again since this page was loaded. Go back, reload it, and try again."
    return None


def stop_job(serving: Serving, name: str) -> None:
    """Stop it, unless it has ended meanwhile."""
    try:
        stop(serving.store, name, grace=None, on_message=serving.log)
    except JobFinishedError:
        return
    serving.waiting_jobs.look()


def new_job(serving: Serving, text: str) -> str | Mistake:
    """The address of the page of a new job, or the mistakes in the job file."""
    try:
        document = read_text(text.encode(), name=_DOCUMENT, directory="/")
        local = document.data.get("Local")
        region = local.get("Region") if isinstance(local, dict) else None
        limit_to_rights(serving, document, region=region or serving.region)
        job, name = read_document(document, {}, path=None, fill_in=False, strict=False)
        with ExitStack() as stack:
            job = with_data(serving, job, stack, name=name, region=job.local.Region or serving.region)
            start(serving, waiting_job(job, name), name=name)
    except SmlocalError as error:
        return Mistake(sentence=error.sentence, details=error.details, remedy=error.remedy)
    except ServiceError as error:
        return Mistake(sentence=error.message)
    return job_address(name)


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
        """Like the original, but the iterator is closed even if the client disconnects while something is sent."""
        events: Any = self.body_iterator
        async with aclosing(events):
            await super().stream_response(send)


class PageStreams:
    """All open pages of one server. Their content is read once for all."""

    def __init__(self, serving: Serving, token: str) -> None:
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
        """The changes in a list of jobs."""
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
        """The changes on the page of a job, and the lines of one of its logs."""
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
        """The first messages."""
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
