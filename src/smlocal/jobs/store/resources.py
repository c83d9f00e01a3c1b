"""Resources that clients make and jobs are made from: models, configurations of endpoints, endpoints."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from smlocal.base.quick_dataclass import dataclass

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
