"""The changes on an open page: the list of jobs, and the parts of a job's page."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from smlocal.base.quick_dataclass import dataclass
from smlocal.endpoint.page.addresses import PREFIX, job_address
from smlocal.endpoint.page.topic import Topic
from smlocal.endpoint.page_tokens import token_of
from smlocal.endpoint.sagemaker.pages import position_of
from smlocal.endpoint.serving import Serving
from smlocal.errors import JobUnknownError
from smlocal.jobs.kinds import showing
from smlocal.jobs.store.job_search import JobSearch
from smlocal.jobs.store.records import JobRecord
from smlocal.report.formatting import duration
from smlocal.report.job_report import read_job_report
from smlocal.report.page import about_job, render
from smlocal.terms.statuses import JobStatus

_LOOK_SECONDS = 0.25
"""For the list of jobs."""
_MOST = 50
"""Jobs on a page."""
_LONGEST_REASON = 160
STATUSES = tuple(status.value for status in JobStatus if status is not JobStatus.DELETING)


@dataclass(frozen=True, kw_only=True, slots=True)
class JobsAsked:
    """Which jobs a page shows."""

    name: str = ""
    """A part of the name."""
    status: str = ""
    after: str | None = None
    """Where the page before ended."""

    @property
    def filtered(self) -> bool:
        """True if there may be jobs that are not shown."""
        return bool(self.name or self.status or self.after)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownJob:
    """One row."""

    name: str
    address: str
    status: str
    state: str
    """In the words of its platform."""
    reason: str
    trained: str
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
    return render("live/jobs.html", **_table(serving, asked), statuses=STATUSES, events=events)


def jobs_table(serving: Serving, asked: JobsAsked) -> str:
    """The part of it that changes."""
    return render("live/jobs_table.html", **_table(serving, asked))


def _table(serving: Serving, asked: JobsAsked) -> dict[str, Any]:
    search = JobSearch(
        name_contains=asked.name or None,
        status=JobStatus(asked.status) if asked.status else None,
        descending=True,
    )
    page = serving.store.find_page(search, most=_MOST, after=position_of(asked.after))
    return {
        "asked": asked,
        "jobs": [_row(record) for record in page.jobs],
        "older": None if page.next is None else _address("/", asked, token_of(page.next.value, page.next.number)),
        "newest": _address("/", asked, None),
    }


def _address(path: str, asked: JobsAsked, after: str | None) -> str:
    query = {"name": asked.name, "status": asked.status, "after": after}
    given = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def _row(record: JobRecord) -> ShownJob:
    state, more = showing(record.platform).words(record)
    reason = " ".join((record.failure_reason or "").split()) or more
    if not record.status.terminal:
        hosts = f"{record.instances} hosts" if record.instances > 1 else ""
        reason = ", ".join(filter(None, (more, hosts)))
    trained = "" if record.started is None or record.ended is None else duration(record.ended - record.started)
    return ShownJob(
        name=record.name,
        address=job_address(record.name),
        status=str(record.status),
        state=str(state),
        reason=reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…",
        trained=trained,
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
    "timeline",
    "rules",
    "history",
    "tuning",
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
