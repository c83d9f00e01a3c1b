"""The jobs that were made here."""

from smlocal.api.job_names import resolve_job_name
from smlocal.job.control.orphans import is_orphan
from smlocal.job.finish.kept import is_kept
from smlocal.quick_dataclass import dataclass
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store
from smlocal.store.records import JobRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedJob:
    """One of them."""

    record: JobRecord
    supervisor_gone: bool
    """True for an unfinished job without a supervisor, unless it waits to be started."""
    containers_kept: bool
    """True for an ended job that has kept its containers."""


def list_jobs(*, limit: int | None) -> list[ListedJob]:
    """The newest jobs first, at most `limit`."""
    with Store.open(home_directory()) as store:
        return [
            ListedJob(
                record=record,
                containers_kept=record.status.terminal and is_kept(store.directory(record.name)),
                supervisor_gone=is_orphan(store, record),
            )
            for record in store.list(limit=limit)
        ]


def matching_jobs(pattern: str) -> list[str]:
    """The names of the jobs that match a shell pattern, newest first; without * ? [] the job that is meant."""
    from fnmatch import fnmatchcase

    if not set(pattern) & set("*?["):
        return [resolve_job_name(pattern)]
    with Store.open(home_directory()) as store:
        return [record.name for record in store.list() if fnmatchcase(record.name, pattern)]
