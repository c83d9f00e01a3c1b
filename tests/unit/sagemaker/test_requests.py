"""Every request that a file can hold: each member has a row, each row is about a member, and both are shown."""

from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pytest
from pages.coverage import sagemaker_coverage

from smlocal.api.request_tables import coverage_tables, job_file_schema
from smlocal.cli.request_names import OF_SAGEMAKER, REQUESTS
from smlocal.sagemaker.requests import REQUESTS as KNOWN
from smlocal.terms.member_table import Support
from smlocal.terms.model.structure import Structure, members, split

TABLES = {id(each.table): each.table for each in KNOWN.values()}.values()


def leaves(structure: type[Structure], place: str = "") -> Iterator[str]:
    """The names of all members below a structure that are none themselves."""
    for name, member in members(structure).items():
        yield from below(member.annotation, f"{place}.{name}" if place else name)


def below(annotation: Any, place: str) -> Iterator[str]:
    kind, _ = split(annotation)
    if get_origin(kind) in (Union, UnionType):
        kind, _ = split(next(each for each in get_args(kind) if each is not type(None)))
    if isinstance(kind, type) and issubclass(kind, Structure):
        yield from leaves(kind, place)
    elif get_origin(kind) is list:
        yield from below(get_args(kind)[0], f"{place}[]")
    else:
        yield place


ALL = [(name, leaf) for name, each in KNOWN.items() for leaf in leaves(each.shape)]


def test_the_commands_know_the_same_requests() -> None:
    assert tuple(KNOWN) == OF_SAGEMAKER
    assert set(coverage_tables()) == set(REQUESTS)


def test_every_member_has_a_row() -> None:
    assert [(name, leaf) for name, leaf in ALL if KNOWN[name].members.row_of(leaf) is None] == []
    assert len([leaf for name, leaf in ALL if name != "CreateTrainingJob"]) > 150


def test_every_row_is_about_a_member() -> None:
    used = {(id(KNOWN[name].table), KNOWN[name].table.row_of(leaf)) for name, leaf in ALL}
    assert [row for table in TABLES for row in table.rows if (id(table), row) not in used] == []


def test_every_note_is_a_sentence() -> None:
    notes = [row.note for table in TABLES for row in table.rows.values()]
    notes += [value.note for table in TABLES for row in table.rows.values() for value in row.values.values()]
    assert [note for note in notes if not note[0].isupper() or not note.endswith(".") or "|" in note] == []


@pytest.mark.parametrize(
    ("table", "name"),
    [
        pytest.param(table, name, id=name)
        for table in TABLES
        for name, row in table.rows.items()
        if row.support is Support.REFUSED and not row.values
    ],
)
def test_what_is_refused_is_refused_by_its_name(table: Any, name: str) -> None:
    first, *steps = name.split(".")
    value: Any = "x"
    for step in reversed(steps):
        value = {step.removesuffix("[]"): [value] if step.endswith("[]") else value}
    ((found, violation),) = table.refused({first.removesuffix("[]"): [value] if first.endswith("[]") else value})
    assert found == name
    assert f"{name.rpartition('.')[2].removesuffix('[]')}" in violation.text.partition(" is refused: ")[0]


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("name", KNOWN)
def test_the_schema_says_how_each_member_is_handled(name: str) -> None:
    schema = job_file_schema(name)
    for member, row in KNOWN[name].members.rows.items():
        place = found = schema
        for step in member.split("."):
            found = place["properties"][step.removesuffix("[]")]
            inner = found["items"] if step.endswith("[]") and "items" in found else found
            reference = inner.get("$ref")
            place = schema["$defs"][reference.rpartition("/")[2]] if reference else inner
        assert found["description"].partition(": ")[0] in set(Support), member
        assert row.note


def test_the_page_has_every_row() -> None:
    page = sagemaker_coverage()
    for name, each in KNOWN.items():
        section = page.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert [row for row in each.members.rows if f"| `{row}` |" not in section] == [], name
