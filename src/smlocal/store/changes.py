"""Notice that any process has changed the state of a job, without reading it."""

from types import TracebackType
from typing import Self

from smlocal.store.database import database_errors, open_database
from smlocal.store.home import prepare_home


class Changes:
    """A number that changes with each change of the database. Asking for it takes some microseconds.

    It has a connection of its own, because SQLite does not count the changes of the connection that is asked.
    """

    def __init__(self, home: str) -> None:
        """Open the database of a home, which is made if it is new."""
        self._home = prepare_home(home)
        self._connection = open_database(self._home)

    def number(self) -> int:
        """Another number than the last time if something has been changed since, by this process or another one."""
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
