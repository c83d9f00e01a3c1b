"""Rows of the tables as records, and the changes of one job that several transactions are made of."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from smlocal.contract.statuses import JobPhase, JobStatus
from smlocal.store.records import JobRecord, Transition

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
    """Of one job, oldest first."""
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


def _encode(document: Any) -> str:
    # ASCII only: names that are not UTF-8 have lone surrogates in Python, which SQLite does not accept.
    return json.dumps(document, separators=(",", ":"))
