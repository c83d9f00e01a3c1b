"""The JSON Schema of a job file, so that editors complete it and show mistakes while it is written."""

from typing import Any

from smlocal.jobfile.local_schema import DRAFT, local_schema, plain_schema, without_null
from smlocal.jobfile.option import Kind
from smlocal.jobs.contract.model.as_pydantic import pydantic_model
from smlocal.sagemaker.contract.coverage.members import TABLE
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.sagemaker.jobfile.job_file import FAULT_KINDS

_Json = dict[str, Any]


def job_file_schema() -> _Json:
    """The request as smlocal takes it (role and name may be absent, paths may be local), and `Local`."""
    request = pydantic_model(CreateTrainingJobRequest).model_json_schema()
    local, of_local = local_schema(Kind.TRAINING, faults=FAULT_KINDS)
    definitions = {**request.pop("$defs"), **of_local}
    request["properties"]["Local"] = local
    request["required"] += ["AlgorithmSpecification", "ResourceConfig"]  # needed by any job that has a container
    request["$defs"] = definitions
    for name, row in TABLE.items():
        member = _member(request, name.removesuffix("[]"))
        if member is not None:
            member["description"] = f"{row.support}: {row.note}"
    return {
        "$schema": DRAFT,
        "title": "smlocal job file",
        "description": "A CreateTrainingJob request, with settings for this machine under Local.",
        **plain_schema(request, top=True),
    }


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
