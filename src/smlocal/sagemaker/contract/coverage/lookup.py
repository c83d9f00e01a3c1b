"""Which members of a request are refused, and the coverage table as JSON."""

from collections.abc import Iterator
from typing import Any

from smlocal.jobs.contract.support import Support
from smlocal.jobs.contract.validation.violation import Path, Violation, spoken
from smlocal.sagemaker.contract.coverage.members import TABLE, Row


def members(request: dict[str, Any]) -> Iterator[tuple[str, Path, Any]]:
    """The leaf members of a request: name in the table, path and value."""
    yield from _members(request, "", ())


def _members(value: Any, name: str, path: Path) -> Iterator[tuple[str, Path, Any]]:
    if name in TABLE:
        yield name, path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _members(item, f"{name}.{key}" if name else key, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _members(item, f"{name}[]", (*path, index))


def _value_name(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else None


def refused(request: dict[str, Any]) -> list[tuple[str, Violation]]:
    """The refused members of a request, with path and reason."""
    found = []
    for name, path, value in members(request):
        row = TABLE[name]
        word = _value_name(value)
        special = row.values.get(word) if word is not None else None
        if row.values and special is None:
            continue  # not a valid value, which validation reports
        if (special or row).support is Support.REFUSED:
            said = f"{spoken(path)}: {word}" if special is not None else spoken(path)
            found.append((name, Violation(path=path, text=f"{said} is refused: {(special or row).note}")))
    return found


def coverage_json() -> dict[str, Any]:
    """The table for `smlocal coverage --json`."""
    return {"CreateTrainingJob": {name: _row(row) for name, row in TABLE.items()}}


def _row(row: Row) -> dict[str, Any]:
    shown: dict[str, Any] = {"support": row.support.value, "note": row.note}
    if row.values:
        shown["values"] = {
            word: {"support": value.support.value, "note": value.note} for word, value in row.values.items()
        }
    return shown
