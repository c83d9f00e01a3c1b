"""Jobs that are searched for: a page of those that a search finds, and names by their beginning.

A shell that completes a name imports only this: the whole store takes 20 ms more.
"""

import os
import sqlite3
from collections.abc import Iterator
from typing import Any, Literal

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.store.database import FILE_NAME, database_errors, open_database
from smlocal.jobs.store.records import COLUMNS, JobRecord, record_of
from smlocal.terms.statuses import JobStatus

SortBy = Literal["name", "created", "status"]
"""A column."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobSearch:
    """Which jobs, and in which order. The limits of times are excluded themselves."""

    created_after: float | None = None
    created_before: float | None = None
    modified_after: float | None = None
    modified_before: float | None = None
    name_contains: str | None = None
    status: JobStatus | None = None
    platform: str | None = None
    sort_by: SortBy = "created"
    descending: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PagePosition:
    """Where a page ended: the value of its last job in the order, and the number of that job."""

    value: float | str
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class JobPage:
    """One page."""

    jobs: tuple[JobRecord, ...]
    next: PagePosition | None
    """Where the next page begins; None after the last one."""


def find_page(
    connection: sqlite3.Connection, search: JobSearch, *, most: int, after: PagePosition | None = None
) -> JobPage:
    """At most this many jobs. A job that is added meanwhile moves no other one to another page."""
    column = search.sort_by
    order, beyond = ("DESC", "<") if search.descending else ("ASC", ">")
    conditions = dict(_conditions(search))
    values = list(conditions.values())
    texts = list(conditions)
    if after is not None:
        texts.append(f"({column}, id) {beyond} (?, ?)")
        values += [after.value, after.number]
    rows = connection.execute(
        f"SELECT {COLUMNS}, {column}, id FROM jobs WHERE {' AND '.join(['1', *texts])}"  # noqa: S608 - constants
        f" ORDER BY {column} {order}, id {order} LIMIT ?",
        (*values, most + 1),
    ).fetchall()
    shown = rows[:most]
    return JobPage(
        jobs=tuple(record_of(row) for row in shown),
        next=PagePosition(value=shown[-1][-2], number=shown[-1][-1]) if len(rows) > most else None,
    )


def _conditions(search: JobSearch) -> Iterator[tuple[str, Any]]:
    for condition, value in (
        ("created > ?", search.created_after),
        ("created < ?", search.created_before),
        ("modified > ?", search.modified_after),
        ("modified < ?", search.modified_before),
        ("instr(name, ?) > 0", search.name_contains),
        ("status = ?", search.status),
        ("platform = ?", search.platform),
    ):
        if value is not None:
            yield condition, value


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


def name_in_any_case(connection: sqlite3.Connection, name: str) -> str | None:
    """The name of the newest job that differs from this one in case only. All names are read."""
    query = "SELECT name FROM jobs WHERE name = ? COLLATE NOCASE ORDER BY id DESC"
    row = connection.execute(query, (name,)).fetchone()
    return None if row is None else str(row[0])
