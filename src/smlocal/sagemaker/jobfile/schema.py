"""The JSON Schema of a job file, so that editors complete it and show mistakes while it is written."""

from collections.abc import Mapping, Sequence
from typing import Any

from smlocal.jobfile.local_schema import DRAFT, local_schema, plain_schema, without_null
from smlocal.jobfile.option import Taker
from smlocal.jobs.contract.member_table import Row
from smlocal.jobs.contract.model.as_pydantic import pydantic_model
from smlocal.jobs.contract.model.structure import Structure
from smlocal.sagemaker.contract.coverage.members import TABLE
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.sagemaker.jobfile.job_file import FAULT_KINDS

_Json = dict[str, Any]


def job_file_schema() -> _Json:
    """The request as smlocal takes it (role and name may be absent, paths may be local), and `Local`."""
    return file_schema(
        CreateTrainingJobRequest,
        TABLE,
        local=local_schema(Taker.TRAINING, faults=FAULT_KINDS),
        required=("AlgorithmSpecification", "ResourceConfig"),  # needed by any job that has a container
        title="smlocal job file",
        description="A CreateTrainingJob request, with settings for this machine under Local.",
    )


def file_schema(
    request: type[Structure],
    rows: Mapping[str, Row],
    *,
    local: tuple[_Json, _Json],
    required: Sequence[str] = (),
    title: str,
    description: str,
) -> _Json:
    """A request with its members described by their rows, and `Local`: its schema, and the definitions in that.

    `required` are members that the service does not need and smlocal does.
    """
    schema = pydantic_model(request).model_json_schema()
    block, of_local = local
    schema["properties"]["Local"] = block
    if required:
        schema["required"] = [*schema.get("required", ()), *required]
    schema["$defs"] = {**schema.get("$defs", {}), **of_local}
    for name, row in rows.items():
        member = _member(schema, name.removesuffix("[]"))
        if member is not None:
            member["description"] = f"{row.support}: {row.note}"
    return {"$schema": DRAFT, "title": title, "description": description, **plain_schema(schema, top=True)}


def _member(schema: _Json, name: str) -> _Json | None:
    """The schema of one member, by its dotted name."""
    place: _Json = schema
    found: _Json | None = None
    for step in name.split("."):
        found = place.get("properties", {}).get(step.removesuffix("[]"))
        if found is None:
            return None
        inner = without_null(found)
        inner = inner.get("items", inner) if step.endswith("[]") else inner
        reference = inner.get("$ref")
        place = schema["$defs"][reference.rpartition("/")[2]] if reference else inner
    return found
