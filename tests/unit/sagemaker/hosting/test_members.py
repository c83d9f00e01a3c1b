"""Every member of the three requests has a row, and no row is about anything else."""

from collections.abc import Iterator
from typing import Any

import pytest

from smlocal.jobs.contract.support import Support
from smlocal.sagemaker.hosting.members import MEMBERS, TABLE, refused_members

Shapes = dict[str, Any]
OPERATIONS = ("CreateModel", "CreateEndpointConfig", "CreateEndpoint")


def leaves(shapes: Shapes, name: str, place: str = "") -> Iterator[str]:
    shape = shapes[name]
    if shape["type"] == "structure":
        for member, target in shape["members"].items():
            yield from leaves(shapes, target["shape"], f"{place}.{member}" if place else member)
    elif shape["type"] == "list":
        yield from leaves(shapes, shape["member"]["shape"], f"{place}[]")
    else:
        yield place


@pytest.fixture(scope="module")
def members(service: dict[str, Any]) -> list[str]:
    return [
        leaf
        for operation in OPERATIONS
        for leaf in leaves(service["shapes"], service["operations"][operation]["input"]["shape"])
    ]


def test_every_member_has_a_row(members: list[str]) -> None:
    assert len(members) > 150
    assert [each for each in members if MEMBERS.row_of(each) is None] == []


def test_every_row_is_about_a_member(members: list[str]) -> None:
    assert [name for name in TABLE if not any(MEMBERS.row_of(each) == name for each in members)] == []


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.support is Support.REFUSED])
def test_what_is_refused_is_refused_by_its_name(name: str) -> None:
    first, *steps = name.split(".")
    value: Any = "x"
    for step in reversed(steps):
        value = {step: [value] if step.endswith("[]") else value}
    request = {first.removesuffix("[]"): [value] if first.endswith("[]") else value}
    ((found, violation),) = refused_members(request)
    assert found == name
    assert "is refused: " in violation.text


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ({"PrimaryContainer": {"Mode": "MultiModel"}}, "PrimaryContainer.Mode"),
        ({"Containers": [{"Image": "a"}, {"Image": "b"}]}, "Containers"),
        ({"ProductionVariants": [{"VariantName": "a"}, {"VariantName": "b"}]}, "ProductionVariants"),
    ],
)
def test_values_are_refused_too(request_: dict[str, Any], name: str) -> None:
    assert [found for found, _ in refused_members(request_)] == [name]


def test_what_is_not_refused_is_silent() -> None:
    assert refused_members({"PrimaryContainer": {"Image": "a", "Mode": "SingleModel"}, "Tags": [{"Key": "a"}]}) == []
