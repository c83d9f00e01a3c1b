"""What clients make and jobs leave: models, configurations of endpoints, endpoints, and warm pools."""

import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

from smlocal.base.files import remove_tree
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import JobUnknownError
from smlocal.jobs.store.home import home_unusable
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.terms.statuses import (
    FOLDER,
    KEPT,
    LIKE,
    OVER,
    POOLS,
    REUSED_BY,
    SECONDS,
    SINCE,
    PoolState,
    folder_name,
    job_of,
    pool_state,
)

Change = Callable[[dict[str, Any]], dict[str, Any] | None]
"""Makes the new body of the old one; None removes the resource."""
_COLUMNS = "kind, name, arn, created, modified, body"


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredResource:
    """One of them."""

    kind: str
    name: str
    arn: str
    created: float
    modified: float
    body: Mapping[str, Any]


def _resource(row: tuple[Any, ...]) -> StoredResource:
    return StoredResource(
        kind=row[0], name=row[1], arn=row[2], created=row[3], modified=row[4], body=json.loads(row[5])
    )


def add(connection: sqlite3.Connection, new: StoredResource) -> bool:
    """False if there is one of this kind and name."""
    row = (new.kind, new.name, new.arn, new.created, new.modified, json.dumps(new.body, separators=(",", ":")))
    done = connection.execute(f"INSERT OR IGNORE INTO resources ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", row)  # noqa: S608 - constants
    return done.rowcount > 0


def find(connection: sqlite3.Connection, kind: str, name: str) -> StoredResource | None:
    """None if there is none."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM resources WHERE kind = ? AND name = ?",  # noqa: S608 - constants
        (kind, name),
    ).fetchone()
    return None if row is None else _resource(row)


def by_arn(connection: sqlite3.Connection, arn: str) -> StoredResource | None:
    """None if there is none."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM resources WHERE arn = ?", (arn,)).fetchone()  # noqa: S608 - constants
    return None if row is None else _resource(row)


def of_kind(connection: sqlite3.Connection, kind: str) -> list[StoredResource]:
    """All of them, the oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM resources WHERE kind = ? ORDER BY created, name",  # noqa: S608 - constants
        (kind,),
    ).fetchall()
    return [_resource(row) for row in rows]


def change(connection: sqlite3.Connection, kind: str, name: str, make: Change, *, at: float) -> StoredResource | None:
    """The changed resource; None if there is none any more."""
    old = find(connection, kind, name)
    if old is None:
        return None
    body = make(dict(old.body))
    if body is None:
        connection.execute("DELETE FROM resources WHERE kind = ? AND name = ?", (kind, name))
        return None
    if body == old.body:
        return old
    connection.execute(
        "UPDATE resources SET body = ?, modified = MAX(modified, ?) WHERE kind = ? AND name = ?",
        (json.dumps(body, separators=(",", ":")), round(at, 3), kind, name),
    )
    return find(connection, kind, name)


# The folder is `warm-pools/NAME.RUN` of the job that has it now. A job takes a pool by one change of the document of
# the earlier job, then renames the folder. Both may be done again after a crash.

WARM_POOL: Final = "warm-pool"
"""The kind of document of a job that has one. It is made when the job has its machines."""


class Pooled(Protocol):
    """What is needed of a `Store`, which clears ended pools itself."""

    home: str

    def get(self, name: str) -> JobRecord:
        """See `Store`."""

    def read(self, name: str, kinds: Sequence[str]) -> StoredJob:
        """See `Store`."""

    def document(self, name: str, kind: str) -> Any:
        """See `Store`."""

    def put_document(self, name: str, kind: str, document: Any) -> None:
        """See `Store`."""

    def change_document(self, name: str, kind: str, change: Callable[[Any], Any]) -> Any:
        """See `Store`."""


def join(store: Pooled, name: str, run_id: str, *, like: str, seconds: int) -> str | None:
    """Give a job that begins the pool of an ended one with the same settings, or a new one; returns the ended job."""
    mine = folder_name(name, run_id)
    document, earlier = store.document(name, WARM_POOL), None
    if document is None:
        now = time.time()
        earlier = _take(store, mine, like, now)
        since = now if earlier is None else earlier[SINCE]
        store.put_document(name, WARM_POOL, {FOLDER: mine, LIKE: like, SECONDS: seconds, SINCE: since})
    pools = os.path.join(store.home, POOLS)
    try:
        for each in _folders(store.home):
            found = _pool(store, each)
            if found is not None and found[1].get(REUSED_BY) == mine:
                os.rename(os.path.join(pools, each), os.path.join(pools, mine))
        os.makedirs(os.path.join(pools, mine), mode=0o700, exist_ok=True)
    except OSError as error:
        raise home_unusable(store.home, error) from error
    return None if earlier is None else job_of(earlier[FOLDER])


def _take(store: Pooled, mine: str, like: str, now: float) -> Mapping[str, Any] | None:
    """The document of the pool that now goes to `mine`; of several that would do, the one whose job ended last."""
    candidates = []
    for folder in _folders(store.home):
        found = _pool(store, folder)
        if found is not None and found[1][LIKE] == like and found[0].status.terminal:
            candidates.append(found)
    for record, document in sorted(candidates, key=lambda each: -each[0].modified):
        folder, ended = document[FOLDER], record.modified

        def taken(current: Any, folder: str = folder, ended: float = ended) -> Any:
            if not _is_of(current, folder) or pool_state(current, ended=ended, now=now).status != "Available":
                return current
            return {**current, REUSED_BY: mine, OVER: now}

        with suppress(JobUnknownError):
            changed = store.change_document(record.name, WARM_POOL, taken)
            if _is_of(changed, folder) and changed.get(REUSED_BY) == mine:
                return dict(changed)
    return None


def keep(store: Pooled, name: str) -> None:
    """The job is about to end in a way that keeps its pool."""
    if store.document(name, WARM_POOL) is not None:
        store.change_document(name, WARM_POOL, lambda document: {**document, KEPT: True})


def change_period(store: Pooled, record: JobRecord, seconds: int) -> bool:
    """Keep an available pool for so long after the end of its job, or end it now; False if there is none."""
    now, done = time.time(), False

    def changed(document: Any) -> Any:
        nonlocal done
        if pool_state(document, ended=record.modified, now=now).status != "Available":
            return document
        done, longer = True, {**document, SECONDS: seconds}
        over = pool_state(longer, ended=record.modified, now=now).status != "Available"
        return {**longer, OVER: now} if over else longer

    if record.status.terminal and store.document(record.name, WARM_POOL) is not None:
        store.change_document(record.name, WARM_POOL, changed)
        clear_ended(store)
    return done


def state_of(record: JobRecord, document: Mapping[str, Any] | None) -> PoolState | None:
    """The state now; None for a job that never had a pool."""
    if document is None:
        return None
    return pool_state(document, ended=record.modified if record.status.terminal else None, now=time.time())


def clear_ended(store: Pooled) -> None:
    """Delete the folders of pools that have ended. What cannot be deleted is tried again by the next one."""
    for folder in _folders(store.home):
        if not _in_use(store, folder):
            with suppress(OSError):
                remove_tree(os.path.join(store.home, POOLS, folder))


def _in_use(store: Pooled, folder: str) -> bool:
    record = _job_of(store, folder)
    if record is None or not record.status.terminal:
        return record is not None
    found = _pool(store, folder)
    if found is None:
        return False
    after = found[1].get(REUSED_BY)
    if after is not None:  # that job may be about to rename the folder
        successor = _job_of(store, after)
        return successor is not None and not successor.status.terminal
    state = state_of(*found)
    return state is not None and state.status == "Available"


def _pool(store: Pooled, folder: str) -> tuple[JobRecord, Mapping[str, Any]] | None:
    """The job whose folder this is, and its document; None if the job is gone or never had its machines."""
    with suppress(JobUnknownError):
        stored = store.read(job_of(folder), (WARM_POOL,))
        document = stored.documents.get(WARM_POOL)
        if document is not None and _is_of(document, folder):
            return stored.record, document
    return None


def _job_of(store: Pooled, folder: str) -> JobRecord | None:
    with suppress(JobUnknownError):
        record = store.get(job_of(folder))
        return record if folder == folder_name(record.name, record.run_id) else None
    return None


def _is_of(document: Any, folder: str) -> bool:
    return document is not None and document[FOLDER] == folder


def _folders(home: str) -> list[str]:
    with suppress(FileNotFoundError):
        return sorted(os.listdir(os.path.join(home, POOLS)))
    return []
