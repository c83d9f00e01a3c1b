"""How each member of a request is handled: the rows of a table, and what a request has of them."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.model.structure import Structure, members
from smlocal.terms.validation.violation import Path, Violation, spoken


class Support(StrEnum):
    """How a member is handled."""

    EMULATED = "emulated"
    """It has the same effect as on the service."""
    RECORDED = "recorded"
    """It is stored and echoed, and has no effect."""
    REFUSED = "refused"
    """A job with it is not run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Value:
    """One value of a member."""

    support: Support
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One member, and everything below it that has no row of its own."""

    support: Support
    note: str
    """A sentence; of a refused member, the reason."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """Values that are handled in another way than the member."""


def emulated(note: str, values: Mapping[str, Value] | None = None, **refused_values: str) -> Row:
    """A row of the table. Keywords are values that are refused, with the reason."""
    return _row(Support.EMULATED, note, values, refused_values)


def recorded(note: str, values: Mapping[str, Value] | None = None, **refused_values: str) -> Row:
    """A row of the table. Keywords are values that are refused, with the reason."""
    return _row(Support.RECORDED, note, values, refused_values)


def refused(note: str) -> Row:
    """A row of the table."""
    return Row(support=Support.REFUSED, note=note)


def works(note: str) -> Value:
    """A value that has the same effect as on the service."""
    return Value(support=Support.EMULATED, note=note)


def _row(support: Support, note: str, values: Mapping[str, Value] | None, refused_values: Mapping[str, str]) -> Row:
    not_done = {word: Value(support=Support.REFUSED, note=why) for word, why in refused_values.items()}
    return Row(support=support, note=note, values={**(values or {}), **not_done})


@dataclass(frozen=True, kw_only=True, slots=True)
class MemberTable:
    """All members of a request, by names such as `Containers[].Image`."""

    rows: Mapping[str, Row]

    def row_of(self, name: str) -> str | None:
        """The row of a member, which may be about one that contains it; None if there is none."""
        while name and name not in self.rows:
            shorter = name.removesuffix("[]")
            name = shorter if shorter != name else name.rpartition(".")[0]
        return name or None

    def members(self, request: Mapping[str, Any]) -> Iterator[tuple[str, Path, Any]]:
        """The members of a request that have a row: its name, their path and value."""
        yield from self._members(request, "", ())

    def _members(self, value: Any, name: str, path: Path) -> Iterator[tuple[str, Path, Any]]:
        if name in self.rows:
            yield name, path, value
        elif isinstance(value, Mapping):
            for key, item in value.items():
                yield from self._members(item, f"{name}.{key}" if name else key, (*path, key))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from self._members(item, f"{name}[]", (*path, index))

    def refused(self, request: Mapping[str, Any]) -> list[tuple[str, Violation]]:
        """The refused members of a request, with path and reason."""
        found = []
        for name, path, value in self.members(request):
            row = self.rows[name]
            word = _word(value)
            special = row.values.get(word) if word is not None else None
            if row.values and special is None:
                continue  # an ordinary value, or an invalid one, which validation reports
            if (special or row).support is Support.REFUSED:
                said = f"{spoken(path)}: {word}" if special is not None else spoken(path)
                found.append((name, Violation(path=path, text=f"{said} is refused: {(special or row).note}")))
        return found

    def recorded(self, request: Mapping[str, Any]) -> list[str]:
        """The members of a request that are kept and echoed and have no effect."""
        present = dict.fromkeys(name for name, _, _ in self.members(request))
        return [name for name in present if self.rows[name].support is Support.RECORDED]

    def of(self, shape: type[Structure]) -> "MemberTable":
        """The rows about members of one structure."""
        own = members(shape)
        return MemberTable(
            rows={name: row for name, row in self.rows.items() if name.partition(".")[0].removesuffix("[]") in own}
        )

    def as_json(self) -> dict[str, Any]:
        """The table for `smlocal coverage --json`."""
        return {name: _shown(row) for name, row in self.rows.items()}


def _word(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else None


def _shown(row: Row) -> dict[str, Any]:
    shown: dict[str, Any] = {"support": row.support.value, "note": row.note}
    if row.values:
        shown["values"] = {
            word: {"support": value.support.value, "note": value.note} for word, value in row.values.items()
        }
    return shown
