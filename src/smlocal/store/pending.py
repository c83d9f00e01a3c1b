"""Submitted jobs that wait: how many instances are wanted and in use, and the end of the wait."""

import sqlite3

from smlocal.contract.statuses import STOPPED, JobPhase, JobStatus, PhaseMessage, StopCause
from smlocal.store.records import JobRecord
from smlocal.store.rows import COLUMNS, move, record_of

_WAITS = "status = 'InProgress' AND secondary_status = 'Pending'"
_UNFINISHED = "status IN ('InProgress', 'Stopping')"


def any_pending(connection: sqlite3.Connection) -> bool:
    """True if any job waits."""
    return connection.execute(f"SELECT 1 FROM jobs WHERE {_WAITS} LIMIT 1").fetchone() is not None  # noqa: S608 - constant


def instances_wanted(connection: sqlite3.Connection) -> int:
    """The instances of all unfinished jobs, waiting or not."""
    return _instances(connection, _UNFINISHED)


def start_pending(connection: sqlite3.Connection, *, at: float, limit: int | None) -> list[str]:
    """`Store.start_pending`, in a transaction."""
    started: list[str] = []
    used = _instances(connection, f"{_UNFINISHED} AND secondary_status != 'Pending'")
    rows = connection.execute(f"SELECT {COLUMNS}, id FROM jobs WHERE {_WAITS} ORDER BY id").fetchall()  # noqa: S608 - constants
    for row in rows:
        record = record_of(row)
        used += record.instances
        if limit is not None and used > limit:
            break
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
