"""Every member of the request has a row, and no row is about anything else."""

from collections.abc import Iterator
from typing import Any

import pytest

from smlocal.sagemaker.contract.coverage.members import TABLE as TRAINING
from smlocal.sagemaker.tuning.members import MEMBERS, TABLE
from smlocal.terms.member_table import Support

Shapes = dict[str, Any]


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
    operation = service["operations"]["CreateHyperParameterTuningJob"]
    return list(leaves(service["shapes"], operation["input"]["shape"]))


def test_every_member_has_a_row(members: list[str]) -> None:
    assert len(members) > 150
    assert [each for each in members if MEMBERS.row_of(each) is None] == []


def test_every_row_is_about_a_member(members: list[str]) -> None:
    assert [name for name in TABLE if not any(MEMBERS.row_of(each) == name for each in members)] == []


def test_rows_of_training_jobs_are_those_of_their_table() -> None:
    assert TABLE["TrainingJobDefinition.RoleArn"] is TRAINING["RoleArn"]


@pytest.mark.parametrize("name", ["Autotune", "HyperParameterTuningJobConfig.ParameterRanges.AutoParameters"])
def test_what_is_refused(name: str) -> None:
    assert TABLE[name].support is Support.REFUSED
