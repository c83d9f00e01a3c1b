"""Answers browsers: which request is for which part of the page, who has logged in, and what a form does."""

import hmac
import re
import secrets
import traceback
from collections.abc import Awaitable, Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files as files_of
from typing import Any
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from smlocal.api.job_source import read_document, read_text
from smlocal.api.stopping import stop
from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.call import ServiceError
from smlocal.endpoint.large_requests import BodyTooLargeError, BodyTooSlowError, read_body
from smlocal.endpoint.page import responses
from smlocal.endpoint.page.addresses import LOGIN, PREFIX, job_address, page_key
from smlocal.endpoint.page.live_views import STATUSES, JobsAsked, job_parts, jobs_page
from smlocal.endpoint.page.log_feed import read_tail
from smlocal.endpoint.page.responses import html, moved, own_file, problem
from smlocal.endpoint.page.streams import TAIL_LINES, EventStream, LogAsked, PageStreams
from smlocal.endpoint.protocol.query import form_fields
from smlocal.endpoint.sagemaker.creating import limit_to_rights, start_job
from smlocal.endpoint.serving import Serving
from smlocal.endpoint.signature import Signatures
from smlocal.errors import JobFinishedError, JobUnknownError, SmlocalError
from smlocal.jobs.logs.log_readers import host_logs
from smlocal.report.page import render

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
        return await _problem("This address does not take that.", status=405) if found else await _missing()

    async def _jobs(self, request: Request) -> Response:
        return html(await run_in_threadpool(jobs_page, self._serving, _asked(request)))

    async def _jobs_events(self, request: Request) -> Response:
        return self._stream(self.streams.list_events(_asked(request)))

    async def _job(self, request: Request, name: str) -> Response:
        return html(await run_in_threadpool(self._job_page, name, _query(request).get("host")))

    def _job_page(self, name: str, host: str | None) -> str:
        logs = host_logs(self._serving.store, name)
        host = host if host in logs else next(iter(logs))
        tail = read_tail(logs[host], lines=TAIL_LINES)
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
        return await run_in_threadpool(responses.whole_log, self._serving, name, host) or await _missing()

    async def _artifact(self, _: Request, name: str, kind: str, member: str | None) -> Response:
        found = await run_in_threadpool(responses.artifact, self._serving, name, kind, member or "")
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
    status = query.get("status", "")
    return JobsAsked(
        name=query.get("name", "").strip(),
        status=status if status in STATUSES else "",
        after=query.get("after") or None,
    )


async def _closed() -> Response:
    return await _problem(
        "This page is not open to everybody.",
        status=403,
        details=["Open it with the link that smlocal serve has printed when it started."],
    )


async def _missing(sentence: str = "There is nothing at this address.") -> Response:
    return await _problem(sentence, status=404)


async def _problem(sentence: str, *, status: int, details: Any = ()) -> Response:
    return await run_in_threadpool(problem, sentence, status=status, details=details)


# Who may see the page, where others than this machine reach it: whoever has opened the link that the server prints.

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
    """What is wrong with a form, and what to do."""

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
    """The address of the page of a new job, or what is wrong with the job file."""
    try:
        document = read_text(text.encode(), name=_DOCUMENT, directory="/")
        local = document.data.get("Local")
        region = local.get("Region") if isinstance(local, dict) else None
        limit_to_rights(serving, document, region=region or serving.region)
        job, name = read_document(document, {}, path=None, fill_in=False, strict=False)
        start_job(serving, job, name=name, region=job.local.Region or serving.region)
    except SmlocalError as error:
        return Mistake(sentence=error.sentence, details=error.details, remedy=error.remedy)
    except ServiceError as error:
        return Mistake(sentence=error.message)
    return job_address(name)
