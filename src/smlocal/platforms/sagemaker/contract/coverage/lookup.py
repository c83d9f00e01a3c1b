"""Which members of a request are refused or only recorded, and the coverage table as JSON and Markdown."""

from collections.abc import Iterator
from typing import Any

from smlocal.contract.support import Support
from smlocal.contract.validation.member_path import Path, spoken
from smlocal.contract.validation.violation import Violation
from smlocal.platforms.sagemaker.contract.coverage.members import TABLE, UNECHOED, Row


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


def recorded_members(request: dict[str, Any]) -> tuple[str, ...]:
    """The members of a request that are stored and echoed and have no effect."""
    present = dict.fromkeys(name for name, _, _ in members(request))
    return tuple(name for name in present if TABLE[name].support is Support.RECORDED)


def unechoed_members() -> tuple[str, ...]:
    """Members of the request that `describe` shows in addition to those of the service."""
    return UNECHOED


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


_PAGE = """\
# Every member of a request: emulated, recorded or refused

<!-- Made by scripts/generate-coverage from the coverage table; do not edit. -->

*Emulated*: it has the same effect as on the service. *Recorded*: it is kept and echoed by `smlocal describe`, and has
no effect here. *Refused*: a request with it is not run (exit code 2, id `field-refused`). `smlocal coverage` prints
this table, and `smlocal coverage --json` prints it for programs. {counts}

| Member of CreateTrainingJob | Support | |
|---|---|---|
"""


def coverage_markdown() -> str:
    """The table for docs/coverage.md."""
    tally = [(support, sum(row.support is support for row in TABLE.values())) for support in Support]
    counts = f"Of {len(TABLE)} members, {', '.join(f'{number} are {support}' for support, number in tally)}."
    lines = []
    for name, row in TABLE.items():
        lines.append(f"| `{name}` | {row.support} | {row.note} |")
        lines += [f"| &nbsp;&nbsp;= `{word}` | {value.support} | {value.note} |" for word, value in row.values.items()]
    return _PAGE.format(counts=counts) + "\n".join(lines) + "\n"
