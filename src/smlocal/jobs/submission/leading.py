"""Jobs that a job leads: recorded, started, looked after, adopted and stopped as those of a user are.

They are of any kind. The leader has no container of its own: each of them has its record, its process and its end.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import JobFinishedError, JobUnknownError
from smlocal.jobs.control.orphans import is_orphan
from smlocal.jobs.control.requests import ask_to_stop
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.submission.scheduler import JobStarter, WaitingJob, record_waiting


@dataclass(kw_only=True, slots=True)
class LedJobs:
    """The jobs that one job leads."""

    store: Store
    starter: JobStarter
    leader: str
    """Its name. Theirs begin with it."""
    arn: str
    run_id: str
    """Of the leader: an earlier one may have had its name."""
    kind: str
    """The kind of the document that says who leads a job."""
    limit: int | None
    """How many instances may be in use; None for no limit."""

    def record(self, job: WaitingJob, name: str, members: Mapping[str, Any]) -> None:
        """Record a job, and with it that this one leads it. `members`: what the leader has to know of it again."""
        by = {"Arn": self.arn, "Name": self.leader, "Run": self.run_id, **members}
        record_waiting(job, name=name, store=self.store, documents={self.kind: by})

    def recorded(self) -> Iterator[Mapping[str, Any]]:
        """What was recorded with each job of this run of the leader, by an earlier supervisor too."""
        for name in self.store.names(f"{self.leader}-"):
            found = self.store.document(name, self.kind)
            if found is not None and found.get("Run") == self.run_id:
                yield found

    def start(self, name: str, kind: str = "") -> None:
        """Start it, unless too many instances are in use or it has a supervisor. `kind`: of the job, if it is known."""
        if self.store.start_pending(now=time.time, limit=self.limit, only=name):
            self.starter.start(name, kind)

    def look(self, name: str, *, orphans: bool) -> JobRecord | None:
        """Its record; None if it is gone. It is started if it waits. `orphans`: see to it that it has a supervisor."""
        try:
            record = self.store.get(name)
        except JobUnknownError:
            return None
        if record.pending:
            self.start(name, record.platform)
        elif orphans and is_orphan(self.store, record):
            self.starter.start(name, record.platform)
        return record

    def stop(self, name: str, grace: float | None) -> None:
        """Stop it by the platform's ladder, or with another grace period."""
        with suppress(JobFinishedError, JobUnknownError):
            if not ask_to_stop(self.store, name, grace=grace):
                self.starter.start(name)
