"""The JSON Schema of a job file, so that editors complete it and show mistakes while it is written."""

from typing import Any

from smlocal.contract.model.as_pydantic import pydantic_model
from smlocal.jobfile.local_settings import LocalSettings
from smlocal.platforms.sagemaker.contract.coverage.members import TABLE
from smlocal.platforms.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.platforms.sagemaker.jobfile.fault_rules import KINDS
from smlocal.platforms.sagemaker.jobfile.job_file import WITHOUT_MEANING

_Json = dict[str, Any]


def job_file_schema() -> _Json:
    """The request as smlocal takes it (role and name may be absent, paths may be local), and `Local`."""
    request = pydantic_model(CreateTrainingJobRequest).model_json_schema()
    local = pydantic_model(LocalSettings).model_json_schema()
    definitions = {**request.pop("$defs"), **local.pop("$defs", {})}
    for name in WITHOUT_MEANING:
        del local["properties"][name]
    fault = definitions["Fault"]["properties"]
    fault["Kind"]["enum"] = list(KINDS)
    del fault["Replica"]
    request["properties"]["Local"] = local
    request["required"] += ["AlgorithmSpecification", "ResourceConfig"]  # needed by any job that has a container
    request["$defs"] = definitions
    for name, row in TABLE.items():
        member = _member(request, name.removesuffix("[]"))
        if member is not None:
            member["description"] = f"{row.support}: {row.note}"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "smlocal job file",
        "description": "A CreateTrainingJob request, with settings for this machine under Local.",
        **_plain(request, top=True),
    }


def _alternatives(schema: _Json) -> _Json:
    """The schema of a member without its null."""
    return next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)


def _member(schema: _Json, name: str) -> _Json | None:
    """The schema of one member, by its dotted name."""
    place: _Json = schema
    found: _Json | None = None
    for step in name.split("."):
        found = place.get("properties", {}).get(step.removesuffix("[]"))
        if found is None:
            return None
        inner = _alternatives(found)
        inner = inner.get("items", inner) if step.endswith("[]") else inner
        reference = inner.get("$ref")
        place = schema["$defs"][reference.rpartition("/")[2]] if reference else inner
    return found


def _plain(value: Any, *, top: bool = False) -> Any:
    """Remove what only says that a missing member is null."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: item for key, item in value.items() if not (key == "default" and item is None)}
    alternatives = kept.get("anyOf")
    if isinstance(alternatives, list) and {"type": "null"} in alternatives:
        del kept["anyOf"]
        kept = {**_alternatives({"anyOf": alternatives}), **kept}
    drop = {"title", "description"} if top else {"title"}
    return {
        key: {name: _plain(item) for name, item in items.items()} if key in ("properties", "$defs") else _plain(items)
        for key, items in kept.items()
        if key not in drop or not isinstance(items, str)
    }
