"""Submitted jobs that wait: how many instances are wanted and in use, and the end of the wait."""

import sqlite3

from smlocal.contract.outcome.statuses import STOPPED, SecondaryStatus, StatusMessage, StopCause, TrainingJobStatus
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
            status=TrainingJobStatus.IN_PROGRESS,
            secondary_status=SecondaryStatus.STARTING,
            message=StatusMessage.PREPARING,
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
        status=TrainingJobStatus.STOPPING,
        secondary_status=SecondaryStatus.STOPPING,
        message=StatusMessage.STOPPING,
        at=at,
    )
    end = STOPPED[StopCause.REQUEST]
    at = move(connection, job, record, status=end.status, secondary_status=end.secondary, message=end.message, at=at)
    connection.execute("UPDATE jobs SET ended = ? WHERE id = ?", (at, job))


def _instances(connection: sqlite3.Connection, condition: str) -> int:
    row = connection.execute(f"SELECT COALESCE(SUM(instances), 0) FROM jobs WHERE {condition}").fetchone()  # noqa: S608 - constants
    return int(row[0])
