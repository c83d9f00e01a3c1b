from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.contract.member_tests import TEST_OF

from smlocal.errors import FieldRefusedError
from smlocal.jobfile.reading import load_document
from smlocal.sagemaker.contract.coverage.members import MEMBERS, TABLE
from smlocal.sagemaker.jobfile.job_file import read_job
from smlocal.terms.member_table import Support, Value

Request = Callable[..., dict[str, Any]]

REFUSED = [
    *((name, None) for name, row in TABLE.items() if row.support is Support.REFUSED and not row.values),
    *(
        (name, value)
        for name, row in TABLE.items()
        for value, special in row.values.items()
        if special.support is Support.REFUSED
    ),
]
ACCEPTED = [
    *((name, None) for name, row in TABLE.items() if row.support is not Support.REFUSED and not row.values),
    *(
        (name, value)
        for name, row in TABLE.items()
        for value, special in row.values.items()
        if special.support is not Support.REFUSED
    ),
]
_BOOLEANS = {"true": True, "false": False}


def test_every_leaf_member_has_a_row(leaves: list[str]) -> None:
    assert list(TABLE) == leaves


def test_the_table_is_as_long_as_the_services_model(service: dict[str, Any]) -> None:
    shapes = service["shapes"]

    def count(name: str) -> int:
        shape = shapes[name]
        if shape["type"] == "structure":
            return sum(count(member["shape"]) for member in shape["members"].values())
        return count(shape["member"]["shape"]) if shape["type"] == "list" else 1

    assert len(TABLE) == count("CreateTrainingJobRequest")


@pytest.mark.parametrize(("member", "value"), REFUSED)
def test_a_refused_member_is_named(request_with: Request, read: Any, member: str, value: str | None) -> None:
    given = None if value is None else _BOOLEANS.get(value, value)
    request = request_with(member, given)
    with pytest.raises(FieldRefusedError) as caught:
        read(request)
    assert caught.value.exit_code == 2
    assert member in caught.value.sentence
    last = member.rpartition(".")[2].removesuffix("[]")
    assert any(
        last in detail and (value is None or f": {value} is refused" in detail) for detail in caught.value.details
    )


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(("member", "value"), ACCEPTED)
def test_any_other_member_is_accepted(request_with: Request, read: Any, member: str, value: str | None) -> None:
    given = None if value is None else _BOOLEANS.get(value, value)
    job = read(request_with(member, given))
    present = {name for name, _, _ in MEMBERS.members(job.raw)}
    assert member in present


def test_refusals_say_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Value(support=Support.REFUSED, note="Not yet.")
    row = replace(TABLE["EnableNetworkIsolation"], values={"true": refused})
    monkeypatch.setitem(TABLE, "EnableNetworkIsolation", row)
    text = """\
AlgorithmSpecification: {AlgorithmName: abc, TrainingInputMode: File}
OutputDataConfig: {S3OutputPath: ./out}
ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1}
EnableNetworkIsolation: true
"""
    with pytest.raises(FieldRefusedError) as caught:
        read_job(load_document(text, name="job.yaml", directory="/"), strict=False)
    assert caught.value.details == (
        (
            "job.yaml:1   AlgorithmSpecification.AlgorithmName is refused: Algorithm resources exist in an AWS "
            "account; give their image as TrainingImage."
        ),
        "job.yaml:4   EnableNetworkIsolation: true is refused: Not yet.",
    )


def test_the_emulated_members_have_a_test() -> None:
    assert set(TEST_OF) == {name for name, row in TABLE.items() if row.support is Support.EMULATED}


def test_values_are_values_of_the_member(service: dict[str, Any]) -> None:
    for name, row in TABLE.items():
        if not row.values:
            continue
        shape = service["shapes"]["CreateTrainingJobRequest"]
        for step in name.split("."):
            shape = service["shapes"][shape["members"][step.removesuffix("[]")]["shape"]]
            if step.endswith("[]"):
                shape = service["shapes"][shape["member"]["shape"]]
        assert set(row.values) == set(shape.get("enum", ("true", "false"))), name


def test_the_json_form() -> None:
    table = MEMBERS.as_json()
    assert table["AlgorithmSpecification.TrainingImage"] == {"support": "emulated", "note": "The image to run."}
    assert table["EnableNetworkIsolation"]["values"]["true"]["support"] == "emulated"


def test_members_the_answer_has_no_place_for(service: dict[str, Any]) -> None:
    shapes = service["shapes"]
    create, describe = (
        shapes[f"{name}"]["members"] for name in ("CreateTrainingJobRequest", "DescribeTrainingJobResponse")
    )
    assert create.keys() - describe.keys() == {"Tags", "SessionChainingConfig"}
    # Common members have the same shape, so nothing below is lost either.
    assert all(create[name]["shape"] == describe[name]["shape"] for name in create.keys() & describe.keys())
