"""The parts of a job's page that change while the job runs."""

import asyncio
import time
from collections.abc import Mapping

from markupsafe import Markup

from smlocal.errors import JobUnknownError
from smlocal.quick_dataclass import dataclass
from smlocal.report.job_report import read_job_report
from smlocal.report.page import about_job, render
from smlocal.server.page.addresses import job_address
from smlocal.server.page.topic import Topic
from smlocal.server.serving import Serving
from smlocal.store.records import JobRecord

_LOOK_SECONDS = 0.1
_RENEW_SECONDS = 1.0
"""How often curves and durations of a running job are renewed."""
_SHARE = 20
"""It is done less often if it takes long: 1 part of so many of the time."""
_PARTIALS = ("outcome", "timeline", "rules", "history", "metrics", "tensors", "usage", "artifacts", "notes", "request")


@dataclass(frozen=True, kw_only=True, slots=True)
class JobParts:
    """What a page shows of a job at one moment."""

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


class JobView(Topic):
    """One job for all streams that show it."""

    def __init__(self, serving: Serving, name: str, token: str) -> None:
        """Nothing is read yet."""
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
            await asyncio.sleep(_LOOK_SECONDS)

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
