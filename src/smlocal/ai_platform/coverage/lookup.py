"""Which members of a request are refused or only recorded, and the tables as JSON."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from smlocal.ai_platform.coverage.tables import CUSTOM_JOB, TRAINING_JOB, CoverageRow
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.terms.member_table import Support
from smlocal.terms.validation.violation import Path


def table(kind: ReplicaJobKind) -> Mapping[str, CoverageRow]:
    """The coverage table of a kind of job."""
    if kind is ReplicaJobKind.TRAINING_JOB:
        return TRAINING_JOB

    return CUSTOM_JOB


def rows_of(kind: ReplicaJobKind, request: Mapping[str, Any]) -> Iterator[tuple[str, Path, Any]]:
    """The members of a request that have a row: its name, their path and value."""
    yield from _rows(table(kind), request, "", ())


def _rows(rows: Mapping[str, CoverageRow], value: Any, name: str, path: Path) -> Iterator[tuple[str, Path, Any]]:
    if name in rows:
        yield name, path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _rows(rows, item, f"{name}.{key}" if name else key, (*path, key))
    elif isinstance(value, list):
        whole = f"{name}[]" if f"{name}[]" in rows else ""
        if whole and value:
            yield whole, path, value
        for index, item in enumerate([] if whole else value):
            yield from _rows(rows, item, f"{name}[]", (*path, index))


def refused(kind: ReplicaJobKind, request: Mapping[str, Any]) -> list[tuple[str, Path, str]]:
    """The refused members of a request: the name of the row, the path, and the rest of a sentence about it."""
    found = []
    for name, path, value in rows_of(kind, request):
        row = table(kind)[name]
        if row.support is Support.REFUSED:
            found.append((name, path, f"is refused: {row.note}"))
        for pattern, reason in row.refused.items():
            if isinstance(value, str) and fnmatchcase(value, pattern):
                found.append((name, path, f"is {value}, which is refused: {reason}"))
    return found


def recorded_members(kind: ReplicaJobKind, request: Mapping[str, Any]) -> tuple[str, ...]:
    """The members of a request that are stored and echoed and have no effect."""
    present = dict.fromkeys(name for name, _, _ in rows_of(kind, request))
    return tuple(name for name in present if table(kind)[name].support is Support.RECORDED)


def coverage_json() -> dict[str, Any]:
    """Both tables for `smlocal coverage --json`, in the form of those of other platforms."""
    return {kind.value: {name: _row(row) for name, row in table(kind).items()} for kind in ReplicaJobKind}


def _row(row: CoverageRow) -> dict[str, Any]:
    shown: dict[str, Any] = {"support": row.support.value, "note": row.note}
    if row.refused:
        shown["values"] = {
            pattern: {"support": Support.REFUSED.value, "note": reason} for pattern, reason in row.refused.items()
        }
    return shown
