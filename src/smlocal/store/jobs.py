"""The one writer of job state: every change is one durable transaction, whoever else reads or writes meanwhile."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import RLock
from types import TracebackType
from typing import Any, Self

from smlocal.contract.outcome.statuses import STOPPED, SecondaryStatus, StatusMessage, StopCause, TrainingJobStatus
from smlocal.errors import (
    HomeUnusableError,
    JobFinishedError,
    JobNotFinishedError,
    JobUnknownError,
    NameInUseError,
)
from smlocal.removal import remove_tree
from smlocal.store.database import explained, open_database
from smlocal.store.home import prepare_home
from smlocal.store.lease import Lease
from smlocal.store.records import Event, JobRecord, LeftOnEngine, Transition

_COLUMNS = "name, status, secondary_status, created, modified, started, ended, failure_reason, supervisor_pid, run_id"
_TRASH = "removed"
"""Folder of the home for the folders of jobs that are being deleted."""

_FIRST = (TrainingJobStatus.IN_PROGRESS, SecondaryStatus.STARTING)

Records = list[JobRecord]


class Store:
    """All jobs of one home. Safe to share between threads; a context manager that closes its connection."""

    def __init__(self, home: str, connection: sqlite3.Connection) -> None:
        """Use `Store.open`."""
        self.home = home
        self._connection = connection
        self._lock = RLock()

    @classmethod
    def open(cls, home: str) -> Self:
        """Open the home, making it when it is new; `HomeUnusableError` when it cannot be used."""
        home = prepare_home(home)
        store = cls(home, open_database(home))
        try:
            store._sweep()
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Give the connection back; everything was durable before."""
        with self._lock, explained(self.home):
            self._connection.close()

    @contextmanager
    def let_go(self) -> Iterator[None]:
        """Close the database for a while: a process that is forked meanwhile can open it for itself.

        SQLite keeps its idea of which locks the process holds in memory. A child would inherit the idea without the
        locks, and its writes could be lost.
        """
        with self._lock:
            self.close()
            try:
                yield
            finally:
                self._connection = open_database(self.home)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def directory(self, name: str) -> str:
        """Folder of a job: logs, plan, whatever a run leaves."""
        return os.path.join(self.home, "jobs", name)

    def create(
        self,
        name: str,
        *,
        run_id: str,
        created: float,
        documents: Mapping[str, Any],
        supervisor_pid: int | None,
        message: str = StatusMessage.STARTING,
        replace: bool = False,
        begin: Callable[[str], None] = lambda _: None,
    ) -> Lease:
        """Remember a new job, `InProgress`/`Starting`, and make its folder; of two creators exactly one wins.

        The winner holds the lease, and `begin` has been called with the job's folder, before anybody else can see the
        job. `replace` forgets a finished job of the name in the same transaction.
        """
        if not name or os.path.basename(name) != name or name.startswith("."):
            raise ValueError(name)  # validated long before; a folder is going to bear it
        created = round(created, 3)
        aside = None
        with self._write() as connection:
            if replace and connection.execute("SELECT 1 FROM jobs WHERE name = ?", (name,)).fetchone():
                aside = self._forget(connection, name)
            try:
                job = connection.execute(
                    "INSERT INTO jobs (name, status, secondary_status, created, modified, supervisor_pid, run_id)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (name, *_FIRST, created, created, supervisor_pid, run_id),
                ).lastrowid
            except sqlite3.IntegrityError as error:
                raise name_in_use(name) from error
            connection.execute(
                "INSERT INTO transitions VALUES (?, 0, ?, ?, NULL, ?)", (job, _FIRST[1], created, message)
            )
            connection.executemany(
                "INSERT INTO documents VALUES (?, ?, ?)",
                [(job, kind, _encode(document)) for kind, document in documents.items()],
            )
            self._make_folder(name)
            lease = Lease.take(self.directory(name))
            if lease is None:  # the folder was made a moment ago, in this transaction
                raise AssertionError(name)
            begin(self.directory(name))
        if aside is not None:
            with suppress(OSError):  # what stays is swept later
                remove_tree(aside)
            self._sweep()
        return lease

    def take_over(self, name: str, supervisor_pid: int) -> Lease | None:
        """Become the supervisor of an unfinished job whose supervisor is gone; None when that is not so."""
        lease = Lease.take(self.directory(name))
        if lease is None:
            return None
        with self._write() as connection:
            job, record = self._find(name)
            if not record.status.terminal:
                connection.execute("UPDATE jobs SET supervisor_pid = ? WHERE id = ?", (supervisor_pid, job))
                return lease
        lease.release()
        return None

    def ask(self, name: str, *, at: float, kind: str, data: Any, stopping: str | None = None) -> JobRecord:
        """Leave word for the supervisor of an unfinished job; `stopping` records a stop with that message.

        One transaction with the look at the status: word is never left with a job that has ended.
        """
        with self._write() as connection:
            job, record = self._find(name)
            if record.status.terminal:
                raise _finished(record)
            if stopping is not None and record.status is not TrainingJobStatus.STOPPING:
                self._move(
                    connection,
                    job,
                    record,
                    status=TrainingJobStatus.STOPPING,
                    secondary_status=SecondaryStatus.STOPPING,
                    message=stopping,
                    at=at,
                )
            connection.execute(
                "INSERT INTO events (job, at, kind, data) VALUES (?, ?, ?, ?)",
                (job, round(at, 3), kind, _encode(data)),
            )
            return self._find(name)[1]

    def remove(self, name: str) -> None:
        """Forget a finished job and delete its folder."""
        with self._write() as connection:
            aside = self._forget(connection, name)
        # Only now, so that a folder of many gigabytes keeps no other process waiting.
        try:
            remove_tree(aside)
        except OSError as error:
            raise HomeUnusableError(
                f"The job '{name}' was removed, but not all of its files could be deleted.",
                details=[f"{aside}: {error.strerror}"],
                remedy=[f"Delete the rest with: sudo rm -rf '{aside}'"],
            ) from error
        self._sweep()

    def _forget(self, connection: sqlite3.Connection, name: str) -> str:
        """Delete the rows of a finished job; returns where its folder has been moved, to be deleted later."""
        job, record = self._find(name)
        if not record.status.terminal:
            raise JobNotFinishedError(
                f"The training job '{name}' is not finished: it is {record.status}.",
                remedy=["Wait for it or stop it first."],
            )
        for table in ("transitions", "documents", "events"):
            connection.execute(f"DELETE FROM {table} WHERE job = ?", (job,))  # noqa: S608 - three constants
        connection.execute("DELETE FROM jobs WHERE id = ?", (job,))
        return self._move_folder_aside(name)

    def transition(
        self,
        name: str,
        *,
        status: TrainingJobStatus,
        secondary_status: SecondaryStatus,
        message: str,
        at: float,
        start_training: bool = False,
        ended: bool = False,
        failure_reason: str | None = None,
    ) -> JobRecord:
        """Move a job on and return how it now is.

        The same secondary status again only renews its message. `start_training` and `ended` note TrainingStartTime
        and TrainingEndTime, the first time they are given; a terminal status notes the end by itself. Times never run
        backwards, a recorded `Stopping` never turns into `InProgress` again nor into `Completed`, and a finished job
        never changes.
        """
        with self._write() as connection:
            job, record = self._find(name)
            if record.status.terminal:
                raise _finished(record)
            if record.status is TrainingJobStatus.STOPPING and not status.terminal:
                status = TrainingJobStatus.STOPPING
                if secondary_status is not SecondaryStatus.UPLOADING:
                    # A supervisor that has not heard of the stop yet still thinks that the job goes on.
                    secondary_status, message = SecondaryStatus.STOPPING, StatusMessage.STOPPING
            elif record.status is TrainingJobStatus.STOPPING and status is TrainingJobStatus.COMPLETED:
                # Whoever asked was told so, in the last moment before the end.
                stopped = STOPPED[StopCause.REQUEST]
                status, secondary_status, message = stopped.status, stopped.secondary, stopped.message
            at = self._move(
                connection, job, record, status=status, secondary_status=secondary_status, message=message, at=at
            )
            connection.execute(
                "UPDATE jobs SET started = COALESCE(started, ?), ended = COALESCE(ended, ?),"
                " failure_reason = COALESCE(?, failure_reason) WHERE id = ?",
                (at if start_training else None, at if ended or status.terminal else None, failure_reason, job),
            )
            return self._find(name)[1]

    def _move(
        self,
        connection: sqlite3.Connection,
        job: int,
        record: JobRecord,
        *,
        status: TrainingJobStatus,
        secondary_status: SecondaryStatus,
        message: str,
        at: float,
    ) -> float:
        """Close the current transition and begin the next, or renew its message; returns the time that was kept."""
        at = max(round(at, 3), record.modified)
        position, current = connection.execute(
            "SELECT position, status FROM transitions WHERE job = ? ORDER BY position DESC LIMIT 1", (job,)
        ).fetchone()
        ended = at if status.terminal else None
        if current == secondary_status:
            connection.execute(
                "UPDATE transitions SET message = ?, ended = ? WHERE job = ? AND position = ?",
                (message, ended, job, position),
            )
        else:
            connection.execute("UPDATE transitions SET ended = ? WHERE job = ? AND position = ?", (at, job, position))
            connection.execute(
                "INSERT INTO transitions VALUES (?, ?, ?, ?, ?, ?)",
                (job, position + 1, secondary_status, at, ended, message),
            )
        connection.execute(
            "UPDATE jobs SET status = ?, secondary_status = ?, modified = ? WHERE id = ?",
            (status, secondary_status, at, job),
        )
        return at

    def put_document(self, name: str, kind: str, document: Any) -> None:
        """Keep a JSON document with a job, in place of an earlier one of that kind."""
        body = _encode(document)
        with self._write() as connection:
            connection.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", (self._find(name)[0], kind, body))

    def document(self, name: str, kind: str) -> Any:
        """A document of a job, None when there is none of that kind."""
        with self._read() as connection:
            row = connection.execute(
                "SELECT body FROM documents WHERE job = ? AND kind = ?", (self._find(name)[0], kind)
            ).fetchone()
        return None if row is None else json.loads(row[0])

    def add_event(self, name: str, at: float, kind: str, data: Any) -> None:
        """Append to the history of a job; a finished job may still gain events."""
        body = _encode(data)
        with self._write() as connection:
            connection.execute(
                "INSERT INTO events (job, at, kind, data) VALUES (?, ?, ?, ?)",
                (self._find(name)[0], round(at, 3), kind, body),
            )

    def events(self, name: str) -> list[Event]:
        """History of a job, in the order in which it was told."""
        with self._read() as connection:
            rows = connection.execute(
                "SELECT at, kind, data FROM events WHERE job = ? ORDER BY id", (self._find(name)[0],)
            ).fetchall()
        return [Event(at=at, kind=kind, data=json.loads(data)) for at, kind, data in rows]

    def remember_left(self, left: LeftOnEngine) -> None:
        """Note that a job may have left something on an engine; this stays when the job is removed."""
        with self._write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO left_on_engines VALUES (?, ?, ?)", (left.run_id, left.name, left.engine)
            )

    def forget_left(self, run_id: str) -> None:
        """Nothing of this run is left any more."""
        with self._write() as connection:
            connection.execute("DELETE FROM left_on_engines WHERE run_id = ?", (run_id,))

    def left_on_engines(self, name: str | None = None) -> Sequence[LeftOnEngine]:
        """What all jobs, or those of one name, may have left."""
        with self._read() as connection:
            rows = connection.execute("SELECT run_id, name, engine FROM left_on_engines ORDER BY name").fetchall()
        found = (LeftOnEngine(run_id=run_id, name=of, engine=engine) for run_id, of, engine in rows)
        return [left for left in found if name in {None, left.name}]

    def get(self, name: str) -> JobRecord:
        """One job, or `JobUnknownError`."""
        with self._read():
            return self._find(name)[1]

    def transitions(self, name: str) -> list[Transition]:
        """SecondaryStatusTransitions of a job, oldest first."""
        with self._read() as connection:
            rows = connection.execute(
                "SELECT status, started, ended, message FROM transitions WHERE job = ? ORDER BY position",
                (self._find(name)[0],),
            ).fetchall()
        return [
            Transition(status=SecondaryStatus(status), started=started, ended=ended, message=message)
            for status, started, ended, message in rows
        ]

    def count(self) -> int:
        """How many jobs are remembered."""
        with self._read() as connection:
            return int(connection.execute("SELECT COUNT(*) FROM jobs").fetchone()[0])

    def list(self, *, limit: int | None = None, offset: int = 0) -> Records:
        """Jobs, newest first."""
        with self._read() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM jobs ORDER BY created DESC, id DESC LIMIT ? OFFSET ?",  # noqa: S608 - constant
                (-1 if limit is None else limit, offset),
            ).fetchall()
        return [_record(row) for row in rows]

    def unfinished(self) -> Records:
        """Jobs that have not ended, oldest first."""
        with self._read() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM jobs WHERE status IN ('InProgress', 'Stopping') ORDER BY id"  # noqa: S608 - constant
            ).fetchall()
        return [_record(row) for row in rows]

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        """Give one snapshot of the database to several SELECTs."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """Begin as a writer, wait for other writers, and commit or undo everything."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, explained(self.home):
            connection = self._connection
            connection.execute(begin)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # SQLite undoes by itself when the disk is full
                    connection.execute("ROLLBACK")
                raise

    def _find(self, name: str) -> tuple[int, JobRecord]:
        row = self._connection.execute(
            f"SELECT {_COLUMNS}, id FROM jobs WHERE name = ?",  # noqa: S608 - constant
            (name,),
        ).fetchone()
        if row is None:
            raise JobUnknownError(
                "Requested resource not found.", details=[f"No training job '{name}' in {self.home}."]
            )
        return row[-1], _record(row)

    def _make_folder(self, name: str) -> None:
        folder = self.directory(name)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            # Where the file system takes `A` and `a` for one, the folder may be another job's.
            if self._connection.execute(
                "SELECT 1 FROM jobs WHERE name = ? COLLATE NOCASE AND name != ?", (name, name)
            ).fetchone():
                raise name_in_use(name) from None
            # Left by a process that died before its job was recorded.
            aside = self._move_folder_aside(name)
            os.mkdir(folder, 0o700)
            remove_tree(aside)

    def _move_folder_aside(self, name: str) -> str:
        """Free a name at once; `rename` moves a link itself, not what it points to."""
        folder = os.path.join(self.home, _TRASH)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        aside = os.path.join(folder, f"{os.getpid()}-{os.urandom(4).hex()}-{name}")
        with suppress(FileNotFoundError):
            os.rename(self.directory(name), aside)
        return aside

    def _sweep(self) -> None:
        """Finish what processes began that died in the middle of a removal: to delete, or not to have removed."""
        folder = os.path.join(self.home, _TRASH)
        try:
            entries = os.listdir(folder)
        except FileNotFoundError:
            return
        for entry in entries:
            owner, _, rest = entry.partition("-")
            if not owner.isdigit() or _alive(int(owner)):
                continue
            aside, name = os.path.join(folder, entry), rest.partition("-")[2]
            with suppress(OSError, HomeUnusableError), self._write() as connection:
                # Its job is still remembered: the removal was never committed.
                if connection.execute("SELECT 1 FROM jobs WHERE name = ?", (name,)).fetchone():
                    os.rename(aside, self.directory(name))
            with suppress(OSError):
                remove_tree(aside)
        with suppress(OSError):
            os.rmdir(folder)


def _finished(record: JobRecord) -> JobFinishedError:
    return JobFinishedError(f"The request was rejected because the training job is in status {record.status}.")


def name_in_use(name: str) -> NameInUseError:
    """The error for a second job of a name."""
    return NameInUseError(
        f"A training job with the name '{name}' already exists (ResourceInUse).",
        remedy=["Choose another name with --name, or", "use --replace to replace the finished job of that name."],
    )


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _record(row: tuple[Any, ...]) -> JobRecord:
    return JobRecord(
        name=row[0],
        status=TrainingJobStatus(row[1]),
        secondary_status=SecondaryStatus(row[2]),
        created=row[3],
        modified=row[4],
        started=row[5],
        ended=row[6],
        failure_reason=row[7],
        supervisor_pid=row[8],
        run_id=row[9],
    )


def _encode(document: Any) -> str:
    # ASCII only, because a name that is not UTF-8 is held as lone surrogates, which SQLite would not take.
    return json.dumps(document, separators=(",", ":"))
