"""The describe answer of a job, with what only this machine knows (`Local`), and the files in the job's folder.

There are copies of its documents (the originals are in the store), reserved disk space, and the mark of kept parts.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from smlocal.base.files import DRAFT, replace_file
from smlocal.jobs.documents import DECISION, FINAL_METRICS, LOCAL, PLAN, RECALL, REQUEST, RULES
from smlocal.jobs.kinds import showing
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.recall import engine_of_each_host
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import Lease
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.jobs.view import JobView
from smlocal.terms.statuses import JobStatus

DESCRIBE = "describe"
_RESERVE = ".reserve"
_RESERVED_BYTES = 512 * 1024
_MARK = "containers-kept"
"""A file in the job's folder. It is there as long as they are."""


def describe_job(store: Store, name: str, *, service: bool = False, final: bool = False) -> dict[str, Any]:
    """The answer of `smlocal describe NAME`; with `service`, only what the platform itself would answer.

    `final`: the last document of a job, for those who do not ask again. It has what the platform adds after the end.
    """
    stored = _read(store, name)
    if service:
        return _answer(stored, final=final)
    return _described(store, stored, final=final)


def list_entry(store: Store, record: JobRecord) -> tuple[str, dict[str, Any]]:
    """The name of the platform's list of jobs, and the job in it."""
    return showing(record.platform).listed(record, lambda: _read(store, record.name))


def view_job(store: Store, name: str, *, final: bool = False) -> JobView:
    """The screens' view of a job; `final` as above."""
    stored = _read(store, name)
    return showing(stored.record.platform).view(stored, _described(store, stored, final=final))


def _read(store: Store, name: str) -> StoredJob:
    platform = showing(store.get(name).platform)
    return store.read(name, (REQUEST, LOCAL, RULES, *platform.DOCUMENTS))


def _answer(stored: StoredJob, *, final: bool) -> dict[str, Any]:
    platform = showing(stored.record.platform)
    return platform.describe_last(stored) if final else platform.describe(stored)


def _described(store: Store, stored: StoredJob, *, final: bool) -> dict[str, Any]:
    platform, local = showing(stored.record.platform), stored.documents.get(LOCAL, {})
    directory = store.directory(stored.record.name)
    return {
        **_answer(stored, final=final),
        "Local": {
            "Version": 1,
            "SupervisorPid": stored.record.supervisor_pid,
            "Directory": directory,
            "Request": platform.request_only(stored.documents[REQUEST]),
            **_placement(store, stored.record),
            **_notes(store, stored.record),
            **({} if final else platform.still_to_come(stored)),
            **({"ContainersKept": True} if has_kept_containers(directory) else {}),
            **{key: value for key, value in local.items() if key not in {DECISION, FINAL_METRICS}},
            **platform.further(stored, lambda kinds: store.read(stored.record.name, kinds).documents),
        },
    }


def _placement(store: Store, record: JobRecord) -> dict[str, Any]:
    """The engine of each host of a planned job on several engines."""
    engines = engine_of_each_host(store.document(record.name, RECALL)) if record.instances > 1 else {}
    return {"Placement": engines} if engines else {}


def _notes(store: Store, record: JobRecord) -> dict[str, Any]:
    """The differences from the service and the engine, as planned; a job that has ended has them among its results."""
    plan = None if record.status.terminal else store.document(record.name, PLAN)
    return {name: plan[name] for name in ("Notes", "Placement") if plan and plan.get(name)}


def write_copy(directory: str, kind: str, document: Any) -> bool:
    """Write `request.json`, `plan.json` or `describe.json`. A copy that cannot be written does not fail the job."""
    with suppress(OSError):
        # A request may hold secrets, and the folder may have been opened to others.
        replace_file(os.path.join(directory, f"{kind}.json"), json.dumps(document, indent=2).encode(), mode=0o600)
        return True
    return False


def write_copies(store: Store, name: str) -> None:
    """Write all copies of a job that has ended; only for its supervisor."""
    directory = store.directory(name)
    for path in _drafts(directory):
        with suppress(OSError):
            os.unlink(path)
    documents = store.read(name, (REQUEST, PLAN)).documents
    if all(write_copy(directory, kind, document) for kind, document in documents.items()):
        write_copy(directory, DESCRIBE, describe_job(store, name, final=True))  # the last: with it, they are complete


def complete_copies(store: Store) -> None:
    """Write the copies of jobs whose supervisor was killed between the end of the job and the last copy."""
    for record in store.list():
        directory = store.directory(record.name)
        if record.status.terminal and os.path.isdir(directory) and not _complete(directory):
            lease = Lease.take(directory)
            if lease is not None:
                with lease:
                    write_copies(store, record.name)


def reserve_space(directory: str) -> None:
    """Reserve disk space, so that the end of a job that fills the disk can still be recorded."""
    with suppress(OSError):
        descriptor = os.open(os.path.join(directory, _RESERVE), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if hasattr(os, "posix_fallocate"):  # not on macOS
                os.posix_fallocate(descriptor, 0, _RESERVED_BYTES)
            else:
                os.write(descriptor, bytes(_RESERVED_BYTES))
        finally:
            os.close(descriptor)


def release_space(directory: str) -> None:
    """Release the reserved space, before the end of the job is recorded."""
    with suppress(OSError):
        os.unlink(os.path.join(directory, _RESERVE))


def _complete(directory: str) -> bool:
    return os.path.exists(os.path.join(directory, f"{DESCRIBE}.json")) and not any(_drafts(directory))


def _drafts(directory: str) -> Iterator[str]:
    """Copies and logs that a killed process has not written completely."""
    for folder in (directory, os.path.join(directory, "logs")):
        with suppress(OSError):
            yield from (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(DRAFT))


def keeps_containers(plan: JobPlan, status: JobStatus) -> bool:
    """True if a job that ends with this status keeps its containers."""
    return plan.kept.containers == "all" or (plan.kept.containers == "failed" and status is JobStatus.FAILED)


def mark_containers_kept(job_directory: str) -> bool:
    """Record that they are kept; False if that is not possible, on a full disk."""
    try:
        with open(os.path.join(job_directory, _MARK), "wb"):
            return True
    except OSError:
        return False


def has_kept_containers(job_directory: str) -> bool:
    """True for a job that has kept them."""
    return os.path.exists(os.path.join(job_directory, _MARK))


def unmark_containers_kept(job_directory: str) -> None:
    """Record that they have been removed."""
    with suppress(OSError):
        os.unlink(os.path.join(job_directory, _MARK))
