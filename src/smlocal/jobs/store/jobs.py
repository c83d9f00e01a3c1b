"""The state of all jobs. Only this module writes it, and each change is one durable transaction."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from smlocal.base.at_use import at_use
from smlocal.base.files import remove_tree
from smlocal.errors import HomeUnusableError, JobFinishedError, JobNotFinishedError, JobUnknownError, NameInUseError
from smlocal.jobs.store import resources
from smlocal.jobs.store.database import FIRST_PLATFORM, database_errors, open_database
from smlocal.jobs.store.home import begun_by_dead, mark_begun, move_aside, moved_by_dead, prepare_home, unmark_begun
from smlocal.jobs.store.lease import Lease, take_unfinished
from smlocal.jobs.store.records import (
    COLUMNS,
    JobRecord,
    LeftOnEngine,
    StoredEvent,
    StoredJob,
    Transition,
    add_event,
    any_pending,
    instances_wanted,
    jobs_with,
    move,
    put_documents,
    read_documents,
    read_transitions,
    record_of,
    start_pending,
    stop_pending,
)
from smlocal.jobs.store.resources import Change, StoredResource
from smlocal.terms.statuses import POOLS, STOPPED, JobPhase, JobStatus, PhaseMessage, StopCause

if TYPE_CHECKING:
    from smlocal.jobs.store import job_search
else:
    job_search = at_use("smlocal.jobs.store.job_search")

Records = list[JobRecord]


class Store:
    """All jobs of one home. A context manager. Threads may share it."""

    def __init__(self, home: str, connection: sqlite3.Connection) -> None:
        """Use `Store.open`."""
        self.home = home
        self._connection = connection
        self._lock = RLock()

    @classmethod
    def open(cls, home: str) -> Self:
        """Open the home, and make it if it is new; `HomeUnusableError` if it cannot be used."""
        home = prepare_home(home)
        store = cls(home, open_database(home))
        try:
            store._finish_removals()
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close the connection."""
        with self._lock, database_errors(self.home):
            self._connection.close()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Close the database inside the `with` block, for a fork.

        SQLite keeps in memory which locks the process holds. A forked process would inherit this without the locks
        themselves, and its writes could be lost.
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
        """The folder of a job, with its logs and copies of its documents."""
        return os.path.join(self.home, "jobs", name)

    def create(
        self,
        name: str,
        *,
        run_id: str,
        created: float,
        documents: Mapping[str, Any],
        supervisor_pid: int | None,
        arn: str = "",
        model_uri: str = "",
        instances: int = 1,
        platform: str = FIRST_PLATFORM,
        message: str = PhaseMessage.STARTING,
        replace: bool = False,
        begin: Callable[[str], None] = lambda _: None,
    ) -> Lease:
        """Record a new job, `InProgress`/`Starting`, and make its folder; `NameInUseError` if another process did.

        When other processes can see the job, this one holds its lease, and `begin` has been called with its folder.
        `replace` removes a finished job of the same name in the same transaction.
        """
        _check_folder_name(name)
        aside = None
        with self._new_job(name) as connection:
            if replace and connection.execute("SELECT 1 FROM jobs WHERE name = ?", (name,)).fetchone():
                aside = self._delete_rows(connection, name)
            self._insert(
                connection,
                (name, JobPhase.STARTING, created, supervisor_pid, run_id, arn, model_uri, instances, platform),
                message=message,
                documents=documents,
            )
            lease = Lease.take(self.directory(name))
            if lease is None:  # not possible: the folder has just been made
                raise AssertionError(name)
            begin(self.directory(name))
        if aside is not None:
            with suppress(OSError):  # `_finish_removals` deletes the rest later
                remove_tree(aside)
            self._finish_removals()
        return lease

    def add_pending(
        self,
        name: str,
        *,
        run_id: str,
        created: float,
        documents: Mapping[str, Any],
        arn: str,
        model_uri: str,
        instances: int,
        platform: str = FIRST_PLATFORM,
        check: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Record a new job that waits, `InProgress`/`Pending`, and make its folder. It has no supervisor.

        `check` is called with the number of instances of all unfinished jobs, and may raise to refuse the job.
        """
        _check_folder_name(name)
        with self._new_job(name) as connection:
            check(instances_wanted(connection))
            self._insert(
                connection,
                (name, JobPhase.PENDING, created, None, run_id, arn, model_uri, instances, platform),
                message=PhaseMessage.WAITING,
                documents=documents,
            )

    def _insert(
        self,
        connection: sqlite3.Connection,
        job: tuple[str, JobPhase, float, int | None, str, str, str, int, str],
        *,
        message: str,
        documents: Mapping[str, Any],
    ) -> None:
        name, phase, created, *rest = job
        created = round(created, 3)
        try:
            number = (
                connection.execute(
                    "INSERT INTO jobs (name, status, secondary_status, created, modified,"
                    " supervisor_pid, run_id, arn, model_uri, instances, platform)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (name, JobStatus.IN_PROGRESS, phase, created, created, *rest),
                ).lastrowid
                or 0
            )
        except sqlite3.IntegrityError as error:
            raise name_in_use(name) from error
        connection.execute("INSERT INTO transitions VALUES (?, 0, ?, ?, NULL, ?)", (number, phase, created, message))
        put_documents(connection, number, documents)
        self._make_folder(name)

    def start_pending(self, *, now: Callable[[], float], limit: int | None, only: str | None = None) -> Sequence[str]:
        """Change waiting jobs to `Starting`, the oldest first, as long as at most `limit` instances are in use.

        Returns their names. They have no supervisor yet. A job that does not fit holds up those behind it. `now` is
        called when no other process can end a job, so that no beginning seems earlier than the end it waited for.
        `only`: the one job that may start.
        """
        with self._read() as connection:  # mostly there is none, and readers wait for no process
            if not any_pending(connection):
                return []
        with self._write() as connection:
            return start_pending(connection, at=now(), limit=limit, only=only)

    def stop_pending(self, name: str, *, at: float, kind: str, data: Any, documents: Mapping[str, Any]) -> bool:
        """Record a request to stop and end the job as `Stopped`, if it is waiting; False if it is not."""
        with self._write() as connection:
            number, record = self._find(name)
            if not record.pending:
                return False
            add_event(connection, number, at=at, kind=kind, data=data)
            stop_pending(connection, number, record, at=at)
            put_documents(connection, number, documents)
        return True

    def take_over(self, name: str, supervisor_pid: int) -> Lease | None:
        """Become the supervisor of an unfinished job without one; None if it has one, or has ended."""
        with database_errors(self.home):
            lease = take_unfinished(self.directory(name), lambda: self.get(name))
        if lease is None:
            return None
        with self._write() as connection:
            job, record = self._find(name)
            if not record.status.terminal:
                connection.execute("UPDATE jobs SET supervisor_pid = ? WHERE id = ?", (supervisor_pid, job))
                return lease
        lease.release()
        return None

    def add_request(self, name: str, *, at: float, kind: str, data: Any, stopping: str | None = None) -> JobRecord:
        """Record a request to the supervisor of an unfinished job; `JobFinishedError` if the job has ended.

        With the message `stopping`, the status becomes `Stopping` in the same transaction.
        """
        with self._write() as connection:
            job, record = self._find(name)
            if record.status.terminal:
                raise _finished(record)
            if stopping is not None and record.status is not JobStatus.STOPPING:
                move(
                    connection,
                    job,
                    record,
                    status=JobStatus.STOPPING,
                    phase=JobPhase.STOPPING,
                    message=stopping,
                    at=at,
                )
            add_event(connection, job, at=at, kind=kind, data=data)
            return self._find(name)[1]

    def remove(self, name: str) -> None:
        """Remove a finished job and delete its folder."""
        with self._write() as connection:
            aside = self._delete_rows(connection, name)
        # After the transaction, so that no other process waits while a large folder is deleted.
        try:
            remove_tree(aside)
        except OSError as error:
            raise HomeUnusableError(
                f"The job '{name}' was removed, but not all of its files could be deleted.",
                details=[f"{aside}: {error.strerror}"],
                remedy=[f"Delete the rest with: sudo rm -rf '{aside}'"],
            ) from error
        self._finish_removals()

    def _delete_rows(self, connection: sqlite3.Connection, name: str) -> str:
        """Delete the rows of a finished job and move its folder aside; returns the new path of the folder."""
        job, record = self._find(name)
        if not record.status.terminal:
            raise JobNotFinishedError(
                f"The job '{name}' is not finished: it is {record.status}.",
                remedy=[f"Stop it first: smlocal rm --stop {name}"],
            )
        for table in ("transitions", "documents", "events"):
            connection.execute(f"DELETE FROM {table} WHERE job = ?", (job,))  # noqa: S608 - three constants
        connection.execute("DELETE FROM jobs WHERE id = ?", (job,))
        return move_aside(self.home, self.directory(name), run_id=record.run_id)

    def transition(
        self,
        name: str,
        *,
        status: JobStatus,
        phase: JobPhase,
        message: str,
        at: float,
        start_training: bool = False,
        ended: bool = False,
        failure_reason: str | None = None,
        modified: float | None = None,
    ) -> JobRecord:
        """Change the status of a job; returns the changed record.

        The same phase again only replaces its message. `start_training` and `ended` set the start
        and the end of the training, once; a terminal status sets the end, too. Times never go backwards. A recorded
        `Stopping` never becomes `InProgress` or `Completed`. A finished job never changes. `modified`: when this was
        recorded, if later than `at`.
        """
        with self._write() as connection:
            job, record = self._find(name)
            if record.status.terminal:
                raise _finished(record)
            if record.status is JobStatus.STOPPING and not status.terminal:
                status = JobStatus.STOPPING
                if phase is not JobPhase.UPLOADING:
                    # The supervisor does not know about the stop yet.
                    phase, message = JobPhase.STOPPING, PhaseMessage.STOPPING
            elif record.status is JobStatus.STOPPING and status is JobStatus.COMPLETED:
                # The stop was accepted just before the end, and its caller was told that the job is being stopped.
                stopped = STOPPED[StopCause.REQUEST]
                status, phase, message = stopped.status, stopped.phase, stopped.message
            at = move(connection, job, record, status=status, phase=phase, message=message, at=at, modified=modified)
            connection.execute(
                "UPDATE jobs SET started = COALESCE(started, ?), ended = COALESCE(ended, ?),"
                " failure_reason = COALESCE(?, failure_reason) WHERE id = ?",
                (at if start_training else None, at if ended or status.terminal else None, failure_reason, job),
            )
            return self._find(name)[1]

    def put_document(self, name: str, kind: str, document: Any) -> None:
        """Store a JSON document of a job; it replaces an earlier one of the same kind."""
        self.put_documents(name, {kind: document})

    def put_documents(self, name: str, documents: Mapping[str, Any]) -> None:
        """Store several at once."""
        with self._write() as connection:
            put_documents(connection, self._find(name)[0], documents)

    def change_document(self, name: str, kind: str, change: Callable[[Any], Any]) -> Any:
        """Replace a document by what `change` makes of it (None if there is none); no other process comes between."""
        with self._write() as connection:
            number = self._find(name)[0]
            changed = change(read_documents(connection, number, [kind]).get(kind))
            put_documents(connection, number, {kind: changed})
        return changed

    def document(self, name: str, kind: str) -> Any:
        """A document of a job; None if there is none of this kind."""
        with self._read() as connection:
            return read_documents(connection, self._find(name)[0], [kind]).get(kind)

    def jobs_with(self, kind: str, names: Sequence[str] | None = None) -> Sequence[tuple[JobRecord, Any]]:
        """The jobs, or those of these, that have a document of this kind, and the document."""
        with self._read() as connection:
            return jobs_with(connection, kind, names)

    def read(self, name: str, kinds: Sequence[str]) -> StoredJob:
        """A job with its history and its documents of these kinds, as they are at one moment."""
        with self._read() as connection:
            number, record = self._find(name)
            return StoredJob(
                record=record,
                transitions=read_transitions(connection, number),
                documents=read_documents(connection, number, kinds),
            )

    def add_event(self, name: str, at: float, kind: str, data: Any) -> None:
        """Append to the history of a job, which may have ended."""
        with self._write() as connection:
            add_event(connection, self._find(name)[0], at=at, kind=kind, data=data)

    def events(self, name: str) -> list[StoredEvent]:
        """The history of a job, oldest first."""
        with self._read() as connection:
            rows = connection.execute(
                "SELECT at, kind, data FROM events WHERE job = ? ORDER BY id", (self._find(name)[0],)
            ).fetchall()
        return [StoredEvent(at=at, kind=kind, data=json.loads(data)) for at, kind, data in rows]

    def record_leftovers(self, left: LeftOnEngine) -> None:
        """Record that a job may have left something on an engine. This stays when the job is removed."""
        with self._write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO left_on_engines VALUES (?, ?, ?)", (left.run_id, left.name, left.engine)
            )

    def delete_leftovers(self, left: LeftOnEngine) -> None:
        """Delete the record: nothing is left there any more."""
        with self._write() as connection:
            connection.execute(
                "DELETE FROM left_on_engines WHERE run_id = ? AND engine = ?", (left.run_id, left.engine)
            )

    def left_on_engines(self, name: str | None = None) -> Sequence[LeftOnEngine]:
        """The records of all jobs, or of those with this name."""
        with self._read() as connection:
            rows = connection.execute("SELECT run_id, name, engine FROM left_on_engines ORDER BY name").fetchall()
        found = (LeftOnEngine(run_id=run_id, name=of, engine=engine) for run_id, of, engine in rows)
        return [left for left in found if name in {None, left.name}]

    def add_resource(self, new: StoredResource) -> bool:
        """Record a resource that is not a job; False if its kind and name exist already."""
        with self._write() as connection:
            return resources.add(connection, new)

    def resource(self, kind: str, name: str) -> StoredResource | None:
        """One of them; None if there is none."""
        with self._read() as connection:
            return resources.find(connection, kind, name)

    def resource_of(self, arn: str) -> StoredResource | None:
        """The resource with this ARN; None if there is none."""
        with self._read() as connection:
            return resources.by_arn(connection, arn)

    def resources(self, kind: str) -> Sequence[StoredResource]:
        """All of a kind, the oldest first."""
        with self._read() as connection:
            return resources.of_kind(connection, kind)

    def change_resource(self, kind: str, name: str, make: Change, *, at: float) -> StoredResource | None:
        """Replace its body, or remove it; returns None if there is none any more. No other process comes between."""
        with self._write() as connection:
            return resources.change(connection, kind, name, make, at=at)

    def get(self, name: str) -> JobRecord:
        """One job, or `JobUnknownError`."""
        with self._read():
            return self._find(name)[1]

    def in_any_case(self, name: str) -> JobRecord | None:
        """The newest job with a name that differs from this one in case only. It reads all names."""
        with self._read() as connection:
            found = job_search.name_in_any_case(connection, name)
            return None if found is None else self._find(found)[1]

    def transitions(self, name: str) -> list[Transition]:
        """The phases of a job, oldest first."""
        with self._read() as connection:
            return read_transitions(connection, self._find(name)[0])

    def names(self, prefix: str = "", *, platform: str | None = None) -> Sequence[str]:
        """The names that begin so, newest first; of one platform, or of all."""
        with self._read() as connection:
            return job_search.names_by_prefix(connection, prefix, platform)

    def find_page(
        self, search: "job_search.JobSearch", *, most: int, after: "job_search.PagePosition | None" = None
    ) -> "job_search.JobPage":
        """A page of the jobs that a search finds."""
        with self._read() as connection:
            return job_search.find_page(connection, search, most=most, after=after)

    def name_of(self, arn: str) -> str:
        """The name of the job with this ARN, which has it in lower case; `JobUnknownError` if there is none."""
        with self._read() as connection:
            row = connection.execute("SELECT name FROM jobs WHERE arn = ? ORDER BY id DESC", (arn,)).fetchone()
        if row is None:
            details = [f"There is no job or endpoint {arn} in {self.home}."]
            raise JobUnknownError("Requested resource not found.", details=details)
        return str(row[0])

    def count(self) -> int:
        """The number of jobs."""
        with self._read() as connection:
            return int(connection.execute("SELECT COUNT(*) FROM jobs").fetchone()[0])

    def list(self, *, limit: int | None = None, offset: int = 0) -> Records:
        """Jobs, newest first."""
        with self._read() as connection:
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM jobs ORDER BY created DESC, id DESC LIMIT ? OFFSET ?",  # noqa: S608 - constant
                (-1 if limit is None else limit, offset),
            ).fetchall()
        return [record_of(row) for row in rows]

    def unfinished(self) -> Records:
        """Jobs that have not ended, oldest first."""
        with self._read() as connection:
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM jobs WHERE status IN ('InProgress', 'Stopping') ORDER BY id"  # noqa: S608 - constant
            ).fetchall()
        return [record_of(row) for row in rows]

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        """A transaction in which all SELECTs see the same state."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """A transaction that waits for other writers, and is committed or rolled back as a whole."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, database_errors(self.home):
            connection = self._connection
            try:
                connection.execute(begin)  # a signal handler may raise when it has just begun
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # when the disk is full, SQLite has already rolled back
                    connection.execute("ROLLBACK")
                raise

    def _find(self, name: str) -> tuple[int, JobRecord]:
        row = self._connection.execute(
            f"SELECT {COLUMNS}, id FROM jobs WHERE name = ?",  # noqa: S608 - constant
            (name,),
        ).fetchone()
        if row is None:
            raise JobUnknownError(
                "Requested resource not found.", details=[f"There is no job or endpoint '{name}' in {self.home}."]
            )
        return row[-1], record_of(row)

    def _make_folder(self, name: str) -> None:
        folder = self.directory(name)
        mark_begun(self.home, name)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            # On a file system that ignores case, the folder may belong to a job whose name differs only in case.
            query = "SELECT name FROM jobs WHERE name = ? COLLATE NOCASE AND name != ?"
            if other := self._connection.execute(query, (name, name)).fetchone():
                raise NameInUseError(
                    f"'{name}' and the job '{other[0]}' are one name on the disk of the home, which ignores case.",
                    remedy=["Choose another name: --name (in Python name=...), or", f"smlocal rm {other[0]}"],
                ) from None
            # A process left it that died before its job was recorded.
            aside = move_aside(self.home, folder, run_id=os.urandom(4).hex())
            os.mkdir(folder, 0o700)
            remove_tree(aside)

    def _finish_removals(self) -> None:
        """Finish removals of processes that died: restore the folder if the job still exists, or else delete it.

        Warm pools whose time is over are removed too: nothing waits for that.
        """
        if os.path.isdir(os.path.join(self.home, POOLS)):
            resources.clear_ended(self)
        for aside, run_id, name in moved_by_dead(self.home):
            with suppress(OSError, HomeUnusableError):
                with self._write() as connection:
                    same = "SELECT 1 FROM jobs WHERE name = ? AND run_id = ?"
                    if connection.execute(same, (name, run_id)).fetchone():
                        # Neither the removal of this job nor a new job of its name was recorded.
                        remove_tree(self.directory(name))
                        os.rename(aside, self.directory(name))
                remove_tree(aside)
        for mark, name in begun_by_dead(self.home):
            with suppress(OSError, HomeUnusableError):
                self._remove_unrecorded(name)
                os.rmdir(mark)

    @contextmanager
    def _new_job(self, name: str) -> Iterator[sqlite3.Connection]:
        """A transaction that makes the folder of a job. If it fails, there is none."""
        try:
            with self._write() as connection:
                yield connection
        except NameInUseError:
            unmark_begun(self.home, name)
            raise
        except BaseException:
            with suppress(OSError, HomeUnusableError):
                self._remove_unrecorded(name)
                unmark_begun(self.home, name)
            raise
        unmark_begun(self.home, name)

    def _remove_unrecorded(self, name: str) -> None:
        """Remove the folder of a job that was begun and not recorded."""
        with self._write() as connection:
            if not connection.execute("SELECT 1 FROM jobs WHERE name = ?", (name,)).fetchone():
                remove_tree(self.directory(name))


def _finished(record: JobRecord) -> JobFinishedError:
    return JobFinishedError(f"The request was rejected because the training job is in status {record.status}.")


def name_in_use(name: str, *, job: str = "training job", running: str | None = None) -> NameInUseError:
    """The error for a name that another job has; `job` is what sentences call that one.

    `running`: the name to give to rm, if that job does not end by itself.
    """
    other = "Choose another name with --name (in Python name=...), or"
    replaced = "use --replace (in Python smlocal.run(..., replace=True)) to replace the finished job of that name."
    code = " (ResourceInUse)" if job == "training job" else ""
    return NameInUseError(
        f"{'An' if job[0] in 'aeiou' else 'A'} {job} with the name '{name}' already exists{code}.",
        remedy=[other, replaced if running is None else f"stop and remove it: smlocal rm --stop {running}"],
    )


def _check_folder_name(name: str) -> None:
    if not name or os.path.basename(name) != name or name.startswith("."):
        raise ValueError(name)  # validated long before; it becomes the name of a folder
