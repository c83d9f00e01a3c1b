"""Answers of the page, with headers that keep a browser from doing anything else with files of jobs."""

import asyncio
import os
import stat
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response, StreamingResponse

from smlocal.api.job_files import KINDS
from smlocal.base.formatting import duration
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.web import ALWAYS, FOR_DATA
from smlocal.endpoint.page.addresses import PREFIX, job_address
from smlocal.endpoint.page.topic import Topic
from smlocal.endpoint.page_tokens import token_of
from smlocal.endpoint.sagemaker.pages import position_of
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobUnknownError
from smlocal.jobs.documents import LED_BY, LOCAL
from smlocal.jobs.kinds import showing, spoken_of
from smlocal.jobs.logs.log_readers import host_logs
from smlocal.jobs.store.job_search import JobSearch
from smlocal.jobs.store.records import JobRecord
from smlocal.report.job_report import read_job_report
from smlocal.report.page import about_job, render
from smlocal.terms.log_view import LogView
from smlocal.terms.statuses import JobStatus

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_ALWAYS = {
    **ALWAYS,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "same-origin",  # browsers send the Origin of a form only with it
}
PAGE_HEADERS = {**_ALWAYS, "content-security-policy": _POLICY}
DATA_HEADERS = {**_ALWAYS, **FOR_DATA}
"""For what jobs have written: nothing in it is ever executed."""


def html(text: str, *, status: int = 200) -> Response:
    """A page."""
    return HTMLResponse(text, status_code=status, headers=PAGE_HEADERS)


def problem(sentence: str, *, status: int, details: Any = ()) -> Response:
    """A page that describes a problem."""
    return html(render("live/problem.html", sentence=sentence, details=details), status=status)


def own_file(content: bytes, kind: str) -> Response:
    """A file that belongs to the page."""
    return Response(content, media_type=kind, headers=PAGE_HEADERS)


def moved(address: str) -> Response:
    """To another page, with GET."""
    return PlainTextResponse("", status_code=303, headers={**PAGE_HEADERS, "location": address})


# Files of jobs that may be downloaded: logs, and the artifacts that the jobs have made.

_KINDS = {"model": "Model", "output": "Output"}
_PIECE = 1 << 20


def whole_log(serving: Serving, name: str, host: str) -> Response | None:
    """The log of a host so far, as the service shows it; None if there is no such host."""
    path = host_logs(serving.store, name).get(host)
    if path is None:
        return None
    return StreamingResponse(_shown(path), media_type="text/plain; charset=utf-8", headers=DATA_HEADERS)


def _shown(path: str) -> Iterator[bytes]:
    view = LogView()
    try:
        with open(path, "rb", buffering=0) as log:
            left = os.fstat(log.fileno()).st_size
            while left > 0 and (piece := log.read(min(_PIECE, left))):
                left -= len(piece)
                yield view.feed(piece)
        yield view.feed(b"", last=True)
    except FileNotFoundError:
        return


def artifact(serving: Serving, name: str, kind: str, member: str) -> Response | None:
    """An artifact, or a file of an artifact that is a folder; None if the job has no such file."""
    serving.store.get(name)
    artifacts = (serving.store.document(name, LOCAL) or {}).get("Artifacts") or {}
    path = artifacts.get(_KINDS.get(kind, ""))
    if not isinstance(path, str) or "\0" in member:
        return None
    if member:
        path = _below(path, member)
    if path is None or not _is_file(path):
        return None
    return FileResponse(
        path, filename=os.path.basename(path), media_type="application/octet-stream", headers=DATA_HEADERS
    )


def _below(folder: str, member: str) -> str | None:
    """The path of a file in a folder, unless a link is on the way: containers can make links to anything."""
    top = os.path.realpath(folder)
    path = os.path.join(top, member)
    return path if os.path.realpath(path) == path and path.startswith(f"{top}/") else None


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


_LOOK_SECONDS = 0.25
"""For the list of jobs."""
_MOST = 50
"""Jobs on a page."""
_LONGEST_REASON = 160
KINDS_SHOWN = {kind.spoken: kind.name for kind in sorted(KINDS, key=lambda each: each.spoken)}
"""The names of kinds, by the words on the page."""
STATUSES = tuple(status.value for status in JobStatus if status is not JobStatus.DELETING)


@dataclass(frozen=True, kw_only=True, slots=True)
class JobsAsked:
    """Which jobs a page shows."""

    name: str = ""
    """A part of the name."""
    status: str = ""
    kind: str = ""
    """A kind, as the page names it."""
    after: str | None = None
    """Where the page before ended."""

    @property
    def filtered(self) -> bool:
        """True if there may be jobs that are not shown."""
        return bool(self.name or self.status or self.kind or self.after)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownJob:
    """One row."""

    name: str
    address: str
    kind: str
    parent: str
    """The search or the execution that has made it, if any."""
    status: str
    state: str
    """In the words of its platform."""
    reason: str
    ran: str
    created: float


class OpenJobs(Topic):
    """One page of the list, for all streams that show it."""

    def __init__(self, serving: Serving, asked: JobsAsked) -> None:
        super().__init__()
        self._serving = serving
        self._asked = asked
        self.html: str | None = None
        """None before it was read the first time."""

    async def look(self) -> None:
        """Read it after each change of any job."""
        seen = None
        while True:
            number = self._serving.status_watch.number()
            if number != seen:
                seen = number
                html = await asyncio.to_thread(jobs_table, self._serving, self._asked)
                if html != self.html:
                    self.html = html
                    self.announce()
            await asyncio.sleep(_LOOK_SECONDS)


def jobs_page(serving: Serving, asked: JobsAsked) -> str:
    """The page with the list."""
    events = _address(f"{PREFIX}jobs.events", asked, asked.after)
    return render("live/jobs.html", **_table(serving, asked), statuses=STATUSES, kinds=KINDS_SHOWN, events=events)


def jobs_table(serving: Serving, asked: JobsAsked) -> str:
    """The part of it that changes."""
    return render("live/jobs_table.html", **_table(serving, asked))


def _table(serving: Serving, asked: JobsAsked) -> dict[str, Any]:
    search = JobSearch(
        name_contains=asked.name or None,
        status=JobStatus(asked.status) if asked.status else None,
        platform=KINDS_SHOWN[asked.kind] if asked.kind else None,
        descending=True,
    )
    page = serving.store.find_page(search, most=_MOST, after=position_of(asked.after))
    names = [record.name for record in page.jobs]
    found = (each for kind in LED_BY for each in serving.store.jobs_with(kind, names))
    parents = {record.name: document.get("Name") or document["Arn"].rpartition("/")[2] for record, document in found}
    return {
        "asked": asked,
        "jobs": [_row(record, parents.get(record.name, "")) for record in page.jobs],
        "older": None if page.next is None else _address("/", asked, token_of(page.next.value, page.next.number)),
        "newest": _address("/", asked, None),
    }


def _address(path: str, asked: JobsAsked, after: str | None) -> str:
    query = {"name": asked.name, "status": asked.status, "kind": asked.kind, "after": after}
    given = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def _row(record: JobRecord, parent: str) -> ShownJob:
    state, more = showing(record.platform).words(record)
    reason = " ".join((record.failure_reason or "").split()) or more
    if not record.status.terminal:
        noun = "containers" if spoken_of(record).endless else "hosts"
        hosts = f"{record.instances} {noun}" if record.instances > 1 else ""
        reason = ", ".join(filter(None, (more, hosts)))
    ran = "" if record.started is None or record.ended is None else duration(record.ended - record.started)
    return ShownJob(
        name=record.name,
        address=job_address(record.name),
        kind=spoken_of(record).job,
        parent=parent,
        status=str(record.status),
        state=str(state),
        reason=reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…",
        ran=ran,
        created=record.created,
    )


_JOB_LOOK_SECONDS = 0.1
"""For one job."""
_RENEW_SECONDS = 1.0
"""How often curves and durations of a running job are renewed."""
_SHARE = 20
"""It is done less often if it takes long: at most this share of the time."""
_PARTIALS = (
    "outcome",
    "leading",
    "timeline",
    "rules",
    "history",
    "sections",
    "metrics",
    "tensors",
    "usage",
    "artifacts",
    "notes",
    "request",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class JobParts:
    """The page of a job at one moment."""

    html: Mapping[str, Markup]
    """By the name of the part."""
    ended: bool


def job_parts(serving: Serving, name: str, token: str) -> JobParts:
    """Read a job and fill the templates; `JobUnknownError` if there is no such job."""
    report = read_job_report(serving.store, name, time.time(), logs=False)
    about = {**about_job(report), "address": job_address(name)}
    parts = {each: Markup(render(f"partials/{each}.html", **about)) for each in _PARTIALS}  # noqa: S704 - escaped by it
    parts["state"] = Markup(render("live/state.html", **about, token=token))  # noqa: S704 - as above
    parts["title"] = Markup.escape(f"{name}: {about['headline']}")
    return JobParts(html=parts, ended=not report.running)


class OpenJob(Topic):
    """One job for all streams that show it."""

    def __init__(self, serving: Serving, name: str, token: str) -> None:
        super().__init__()
        self._serving = serving
        self._name = name
        self._token = token
        self.parts: JobParts | None = None
        """None before it was read the first time."""
        self.gone = False
        """True once the job was removed."""

    async def look(self) -> None:
        """Read it after each change of its status, and from time to time while it runs."""
        seen, renew = None, 0.0
        record: JobRecord | None = None
        while not self.gone:
            number, now, before = self._serving.status_watch.number(), time.monotonic(), record
            if number != seen:
                seen = number
                record = await asyncio.to_thread(self._record)  # most changes are those of other jobs
            if self.parts is None or record != before or (now >= renew and not self.parts.ended):
                await self._read()
                took = time.monotonic() - now
                renew = now + max(_RENEW_SECONDS, took * _SHARE)
            await asyncio.sleep(_JOB_LOOK_SECONDS)

    def _record(self) -> JobRecord | None:
        try:
            return self._serving.store.get(self._name)
        except JobUnknownError:
            return None

    async def _read(self) -> None:
        try:
            parts = await asyncio.to_thread(job_parts, self._serving, self._name, self._token)
        except JobUnknownError:
            self.gone = True
        else:
            if parts == self.parts:
                return
            self.parts = parts
        self.announce()
