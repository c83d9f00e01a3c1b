"""Make, open and migrate the SQLite file, word its errors for the user, and notice its changes."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

from smlocal.errors import HomeUnusableError
from smlocal.jobs.store.home import home_unusable, prepare_home

FILE_NAME = "smlocal.db"
FIRST_PLATFORM = "sagemaker"
"""The platform of jobs that were recorded when there was one only."""
_BUSY_SECONDS = 30.0

# Step i migrates from version i to i + 1. Never edit a published step: add another one.
_MIGRATIONS = (
    """
    CREATE TABLE jobs (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        status TEXT NOT NULL,
        secondary_status TEXT NOT NULL,
        created REAL NOT NULL,
        modified REAL NOT NULL,
        started REAL,
        ended REAL,
        failure_reason TEXT,
        supervisor_pid INTEGER,
        run_id TEXT NOT NULL
    );
    CREATE INDEX jobs_newest ON jobs (created, id);
    CREATE TABLE transitions (
        job INTEGER NOT NULL,
        position INTEGER NOT NULL,
        status TEXT NOT NULL,
        started REAL NOT NULL,
        ended REAL,
        message TEXT NOT NULL,
        PRIMARY KEY (job, position)
    ) WITHOUT ROWID;
    CREATE TABLE documents (
        job INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (job, kind)
    );
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        job INTEGER NOT NULL,
        at REAL NOT NULL,
        kind TEXT NOT NULL,
        data TEXT NOT NULL
    );
    CREATE INDEX events_of_job ON events (job, id);
    """,
    """
    CREATE TABLE left_on_engines (
        run_id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        engine TEXT NOT NULL
    ) WITHOUT ROWID;
    """,
    """
    ALTER TABLE jobs ADD COLUMN arn TEXT NOT NULL DEFAULT '';
    ALTER TABLE jobs ADD COLUMN model_uri TEXT NOT NULL DEFAULT '';
    ALTER TABLE jobs ADD COLUMN instances INTEGER NOT NULL DEFAULT 1;
    UPDATE jobs SET (arn, model_uri, instances) = (
        SELECT COALESCE(json_extract(body, '$.TrainingJobArn'), ''),
            COALESCE(json_extract(body, '$.Output.S3ModelArtifacts'), ''),
            COALESCE(json_array_length(body, '$.Hosts'), 1)
        FROM documents WHERE documents.job = jobs.id AND documents.kind = 'plan'
    ) WHERE EXISTS (SELECT 1 FROM documents WHERE documents.job = jobs.id AND documents.kind = 'plan');
    CREATE INDEX jobs_of_status ON jobs (status, id);
    CREATE INDEX jobs_by_arn ON jobs (arn);
    """,
    f"""
    ALTER TABLE jobs ADD COLUMN platform TEXT NOT NULL DEFAULT '{FIRST_PLATFORM}';
    """,
    """
    ALTER TABLE left_on_engines RENAME TO left_on_one;
    CREATE TABLE left_on_engines (
        run_id TEXT NOT NULL,
        name TEXT NOT NULL,
        engine TEXT NOT NULL,
        PRIMARY KEY (run_id, engine)
    ) WITHOUT ROWID;
    INSERT INTO left_on_engines SELECT run_id, name, engine FROM left_on_one;
    DROP TABLE left_on_one;
    """,
    """
    CREATE TABLE resources (
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        arn TEXT NOT NULL,
        created REAL NOT NULL,
        modified REAL NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (kind, name)
    ) WITHOUT ROWID;
    CREATE INDEX resources_by_arn ON resources (arn);
    """,
)
VERSION = len(_MIGRATIONS)


def open_database(home: str) -> sqlite3.Connection:
    """Open the database of a prepared home; it is made or migrated if necessary."""
    path = os.path.join(home, FILE_NAME)
    with database_errors(home):
        if not os.path.exists(path):
            _make(home, path)
        connection = _connect(path)
        try:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if version != VERSION:
                _update(home, connection, version)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def database_errors(home: str) -> Iterator[None]:
    """Raise errors of SQLite and the file system as errors that name the home."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise home_unusable(home, error) from error
        raise HomeUnusableError(
            f"The database of smlocal is damaged: {os.path.join(home, FILE_NAME)}",
            details=[str(error)],
            remedy=["Move that file (its jobs are then lost), or", "set SMLOCAL_HOME to another folder."],
        ) from error
    except OSError as error:
        raise home_unusable(home, error) from error


def _connect(path: str) -> sqlite3.Connection:
    # mode=rw: if the database has just been deleted, this is an error and does not make an empty one.
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(
        f"file:{quoted}?mode=rw", uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        # The default is FULL, but some builds of SQLite lower it for WAL.
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _make(home: str, path: str) -> None:
    """Make the database under a temporary name and link it to its path: no process sees an incomplete one.

    WAL mode is stored in the file, so it is only set here.
    """
    partial = os.path.join(home, f".{FILE_NAME}-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection = _connect(partial)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            _migrate(connection)
        finally:
            connection.close()
        with suppress(FileExistsError):  # another process was faster; its database is used
            os.link(partial, path)
    finally:
        for leftover in (partial, f"{partial}-wal", f"{partial}-shm", f"{partial}-journal"):
            with suppress(FileNotFoundError):
                os.unlink(leftover)


def _update(home: str, connection: sqlite3.Connection, version: int) -> None:
    if version > VERSION:
        raise HomeUnusableError(
            f"The jobs in {home} were recorded by a newer smlocal.",
            details=[f"Its database has version {version}; this smlocal supports versions up to {VERSION}."],
            remedy=["Upgrade smlocal, or", "set SMLOCAL_HOME to another folder."],
        )
    connection.execute("PRAGMA journal_mode = WAL")
    _migrate(connection)


def _migrate(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        for step in _MIGRATIONS[version:]:
            for statement in step.split(";"):
                if statement.strip():
                    connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


class StoreChanges:
    """A number that changes with each change of the database. Asking for it takes some microseconds.

    It has a connection of its own, because SQLite does not count the changes of the connection that is asked.
    """

    def __init__(self, home: str) -> None:
        """Open the database of a home, which is made if it is new."""
        self._home = prepare_home(home)
        self._connection = open_database(self._home)

    def number(self) -> int:
        """Changes whenever any process has changed the database."""
        with database_errors(self._home):
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
