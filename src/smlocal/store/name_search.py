"""Names of jobs by their beginning. Imported alone where a shell completes a name: the whole store takes 20 ms more."""

import os
import sqlite3

from smlocal.store.database import FILE_NAME, database_errors, open_database


def stored_names(home: str, prefix: str) -> list[str]:
    """The names that begin so, newest first; none where there is no store, which is not made."""
    if not os.path.exists(os.path.join(home, FILE_NAME)):
        return []
    connection = open_database(home)
    try:
        with database_errors(home):
            return names_by_prefix(connection, prefix)
    finally:
        connection.close()


def names_by_prefix(connection: sqlite3.Connection, prefix: str, platform: str | None = None) -> list[str]:
    """The same with an open database; of one platform, or of all."""
    if not prefix.isascii():  # as no name is
        return []
    rows = connection.execute(
        "SELECT name FROM jobs WHERE name >= ? AND name < ? AND platform = ifnull(?, platform)"
        " ORDER BY created DESC, id DESC",
        (prefix, f"{prefix}\x7f", platform),
    )
    return [name for (name,) in rows]
