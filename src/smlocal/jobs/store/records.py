"""The records of the store, the rows that they are read from, and the changes that transactions are made of."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.statuses import STOPPED, JobPhase, JobStatus, PhaseMessage, StopCause

_WAITS = "status = 'InProgress' AND secondary_status = 'Pending'"
_UNFINISHED = "status IN ('InProgress', 'Stopping')"


@dataclass(frozen=True, kw_only=True, slots=True)
class JobRecord:
    """One job. Times are seconds since the epoch, with milliseconds."""

    name: str
    status: JobStatus
    phase: JobPhase
    created: float
    modified: float
    started: float | None
    ended: float | None
    failure_reason: str | None
    supervisor_pid: int | None
    run_id: str
    arn: str
    model_uri: str
    """The URI of the model that the platform answers."""
    instances: int
    platform: str
    """Its name."""

    @property
    def pending(self) -> bool:
        """True for a submitted job that waits to be started. It needs no supervisor."""
        return self.phase is JobPhase.PENDING


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredJob:
    """One job with its history and some of its documents, all read at one moment."""

    record: JobRecord
    transitions: "Sequence[Transition]"
    documents: Mapping[str, Any]
    """By kind. A kind is absent if the job has no such document."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Transition:
    """A phase that a job was in, or is in."""

    status: JobPhase
    started: float
    ended: float | None
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOnEngine:
    """A job that may have left something on an engine. It has ended, and may have been removed since."""

    run_id: str
    name: str
    engine: str
    """The engine's address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredEvent:
    """An entry in the history of a job."""

    at: float
    kind: str
    data: object


COLUMNS = (
    "name, status, secondary_status, created, modified, started, ended, failure_reason, supervisor_pid, run_id,"
    " arn, model_uri, instances, platform"
)


def record_of(row: tuple[Any, ...]) -> JobRecord:
    """The record of a row that begins with `COLUMNS`."""
    return JobRecord(
        name=row[0],
        status=JobStatus(row[1]),
        phase=JobPhase(row[2]),
        created=row[3],
        modified=row[4],
        started=row[5],
        ended=row[6],
        failure_reason=row[7],
        supervisor_pid=row[8],
        run_id=row[9],
        arn=row[10],
        model_uri=row[11],
        instances=row[12],
        platform=row[13],
    )


def read_transitions(connection: sqlite3.Connection, job: int) -> list[Transition]:
    """The transitions of one job, oldest first."""
    rows = connection.execute(
        "SELECT status, started, ended, message FROM transitions WHERE job = ? ORDER BY position", (job,)
    ).fetchall()
    return [
        Transition(status=JobPhase(status), started=started, ended=ended, message=message)
        for status, started, ended, message in rows
    ]


def read_documents(connection: sqlite3.Connection, job: int, kinds: Sequence[str]) -> dict[str, Any]:
    """The documents of these kinds that a job has."""
    places = ", ".join("?" * len(kinds))
    rows = connection.execute(
        f"SELECT kind, body FROM documents WHERE job = ? AND kind IN ({places})",  # noqa: S608 - question marks
        (job, *kinds),
    ).fetchall()
    return {kind: json.loads(body) for kind, body in rows}


def jobs_with(connection: sqlite3.Connection, kind: str, names: Sequence[str] | None) -> list[tuple[JobRecord, Any]]:
    """Jobs with a document of this kind. Without names, the index is searched, and no other document is read."""
    wanted = "SELECT rowid FROM documents WHERE kind = ?"
    values: list[Any] = [kind]
    if names is not None:
        wanted += " AND job IN (SELECT id FROM jobs WHERE name IN (SELECT value FROM json_each(?)))"
        values.append(json.dumps(names))
    rows = connection.execute(
        f"SELECT {COLUMNS}, body FROM documents JOIN jobs ON id = job WHERE documents.rowid IN ({wanted})",  # noqa: S608 - constants
        values,
    ).fetchall()
    return [(record_of(row), json.loads(row[-1])) for row in rows]


def put_documents(connection: sqlite3.Connection, job: int, documents: Mapping[str, Any]) -> None:
    """Add documents, or replace those of the same kinds."""
    connection.executemany(
        "INSERT OR REPLACE INTO documents VALUES (?, ?, ?)",
        [(job, kind, _encode(document)) for kind, document in documents.items()],
    )


def add_event(connection: sqlite3.Connection, job: int, *, at: float, kind: str, data: Any) -> None:
    """Append to the history of a job."""
    connection.execute(
        "INSERT INTO events (job, at, kind, data) VALUES (?, ?, ?, ?)", (job, round(at, 3), kind, _encode(data))
    )


def move(
    connection: sqlite3.Connection,
    job: int,
    record: JobRecord,
    *,
    status: JobStatus,
    phase: JobPhase,
    message: str,
    at: float,
    modified: float | None = None,
) -> float:
    """End the current transition and add the next, or replace its message; returns the time that was recorded.

    `modified`: when the job was changed, if later than `at`.
    """
    at = max(round(at, 3), record.modified)
    position, current = connection.execute(
        "SELECT position, status FROM transitions WHERE job = ? ORDER BY position DESC LIMIT 1", (job,)
    ).fetchone()
    ended = at if status.terminal else None
    if current == phase:
        connection.execute(
            "UPDATE transitions SET message = ?, ended = ? WHERE job = ? AND position = ?",
            (message, ended, job, position),
        )
    else:
        connection.execute("UPDATE transitions SET ended = ? WHERE job = ? AND position = ?", (at, job, position))
        connection.execute(
            "INSERT INTO transitions VALUES (?, ?, ?, ?, ?, ?)",
            (job, position + 1, phase, at, ended, message),
        )
    connection.execute(
        "UPDATE jobs SET status = ?, secondary_status = ?, modified = ? WHERE id = ?",
        (status, phase, at if modified is None else max(at, round(modified, 3)), job),
    )
    return at


def any_pending(connection: sqlite3.Connection) -> bool:
    """True if any job waits."""
    return connection.execute(f"SELECT 1 FROM jobs WHERE {_WAITS} LIMIT 1").fetchone() is not None  # noqa: S608 - constant


def instances_wanted(connection: sqlite3.Connection) -> int:
    """The instances of all unfinished jobs, waiting or not."""
    return _instances(connection, _UNFINISHED)


def start_pending(
    connection: sqlite3.Connection, *, at: float, limit: int | None, only: str | None = None
) -> list[str]:
    """`Store.start_pending`, in a transaction. `only`: the one job that may start."""
    started: list[str] = []
    full = False
    used = _instances(connection, f"{_UNFINISHED} AND secondary_status != 'Pending'")
    rows = connection.execute(f"SELECT {COLUMNS}, id FROM jobs WHERE {_WAITS} ORDER BY id").fetchall()  # noqa: S608 - constants
    for row in rows if only is None else [row for row in rows if record_of(row).name == only]:
        record = record_of(row)
        used += record.instances
        full = full or (limit is not None and used > limit)
        if full and record.instances:  # a job that uses none is held up by nobody
            continue
        move(
            connection,
            row[-1],
            record,
            status=JobStatus.IN_PROGRESS,
            phase=JobPhase.STARTING,
            message=PhaseMessage.PREPARING,
            at=at,
        )
        started.append(record.name)
    return started


def stop_pending(connection: sqlite3.Connection, job: int, record: JobRecord, *, at: float) -> None:
    """End a waiting job as `Stopped`."""
    at = move(
        connection,
        job,
        record,
        status=JobStatus.STOPPING,
        phase=JobPhase.STOPPING,
        message=PhaseMessage.STOPPING,
        at=at,
    )
    end = STOPPED[StopCause.REQUEST]
    at = move(connection, job, record, status=end.status, phase=end.phase, message=end.message, at=at)
    connection.execute("UPDATE jobs SET ended = ? WHERE id = ?", (at, job))


def _instances(connection: sqlite3.Connection, condition: str) -> int:
    row = connection.execute(f"SELECT COALESCE(SUM(instances), 0) FROM jobs WHERE {condition}").fetchone()  # noqa: S608 - constants
    return int(row[0])


def _encode(document: Any) -> str:
    # ASCII only: names that are not UTF-8 have lone surrogates in Python, which SQLite does not accept.
    return json.dumps(document, separators=(",", ":"))
