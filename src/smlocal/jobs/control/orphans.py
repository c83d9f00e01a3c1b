"""Orphans: unfinished jobs without a supervisor that do not wait to be started. They get a new one."""

from collections.abc import Callable
from contextlib import nullcontext

from smlocal.errors import JobNotAdoptedError
from smlocal.jobs.control import detach
from smlocal.jobs.documents import NOT_ADOPTED
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import supervised
from smlocal.jobs.store.records import JobRecord


def ensure_supervised(store: Store, name: str) -> bool:
    """Start a supervisor in a new process if the job is an orphan; True if it was one."""
    if not is_orphan(store, store.get(name)):
        return False
    # A process that does not fork keeps its connection, which other threads of a server are using.
    with store.closed() if detach.process_may_fork else nullcontext():
        detach.start_in_background(adopt_orphan, home=store.home, name=name)
    return True


def is_orphan(store: Store, record: JobRecord) -> bool:
    """True if the job needs a new supervisor."""
    return not record.status.terminal and not record.pending and not supervised(store.directory(record.name))


def adopt_orphan(ready: Callable[[], None], *, home: str, name: str) -> None:
    """Supervise an orphan in this process, to its end."""
    from smlocal.jobs.control.adopt import adopt

    with Store.open(home) as store:
        if adopt(store, name, ready):
            from smlocal.jobs.finish.report_files import write_recorded_report_files  # few orphans have any

            write_recorded_report_files(store, name)


def why_not_adopted(store: Store, name: str, *, since: float) -> JobNotAdoptedError | None:
    """Why the last supervisor could not take over the job, if one has tried since then."""
    document = store.document(name, NOT_ADOPTED)
    return None if document is None or document["At"] < since else not_adopted(name, document["Why"])


def not_adopted(name: str, why: str) -> JobNotAdoptedError:
    """The error for a job that stays without a supervisor."""
    return JobNotAdoptedError(
        f"the job '{name}' has no supervisor and was not changed",
        details=[why],
        remedy=[
            "Containers that are running keep running. Check the engine (smlocal doctor), then run: smlocal recover",
            f"smlocal rm --abandon {name}     ends it, if its engine is gone for good",
        ],
    )


def orphans(store: Store) -> list[str]:
    """The names of all orphans."""
    return [record.name for record in store.unfinished() if is_orphan(store, record)]
