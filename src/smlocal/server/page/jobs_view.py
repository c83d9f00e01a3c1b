"""The list of jobs."""

import asyncio
from typing import Any
from urllib.parse import urlencode

from smlocal.contract.statuses import JobStatus
from smlocal.job.kinds import showing
from smlocal.quick_dataclass import dataclass
from smlocal.report.formatting import duration
from smlocal.report.page import render
from smlocal.server.page.addresses import PREFIX, job_address
from smlocal.server.page.topic import Topic
from smlocal.server.page_tokens import token_of
from smlocal.server.sagemaker.listing import position_of
from smlocal.server.serving import Serving
from smlocal.store.job_search import JobSearch
from smlocal.store.records import JobRecord

_LOOK_SECONDS = 0.25
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


class JobsView(Topic):
    """One page of the list, for all streams that show it."""

    def __init__(self, serving: Serving, asked: JobsAsked) -> None:
        """Nothing is read yet."""
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
