"""The JSON Schemas of the job files of this platform, for editors."""

from collections.abc import Mapping
from typing import Any, Final

from smlocal.ai_platform.answer import snake_name
from smlocal.ai_platform.coverage import CoverageRow, table
from smlocal.ai_platform.jobfile.job_file import KINDS, READING
from smlocal.ai_platform.machine_types import offered
from smlocal.ai_platform.model.members import ModelMember, ReplicaJobKind, is_structure, members
from smlocal.ai_platform.shape import JOB_SPEC, TRAINING_INPUT
from smlocal.jobfile.local_schema import DRAFT, local_schema, plain_schema
from smlocal.jobfile.option import LOCAL

_Json = dict[str, Any]
_SPEC: Final = "CustomJobSpec"
_MACHINE_TYPES: Final = frozenset({"machineType", "masterType", "workerType", "parameterServerType", "evaluatorType"})
_WHOLE: Final[_Json] = {"type": ["integer", "string"], "pattern": "^-?[0-9]{1,19}$"}
"""As in the services' own JSON, a whole number may be a string."""
_SIMPLE: Final[Mapping[str, _Json]] = {
    "boolean": {"type": "boolean"},
    "number": {"type": "number"},
    "int32": _WHOLE,
    "int64": _WHOLE,
    "duration": {"type": "string", "pattern": r"^-?[0-9]{1,12}(\.[0-9]{1,9})?s$"},
}
"""For simple types other than text."""


def job_file_schema(kind: ReplicaJobKind) -> _Json:
    """The request as smlocal takes it, and `Local`. Members may be written as in the SDK: `worker_pool_specs`."""
    local, definitions = local_schema(READING.REFUSED, faults=KINDS, replicas=True)
    schemas = _Schemas(kind)
    whole = schemas.structure(kind.value, "", beside={LOCAL: {"$ref": f"#/$defs/{LOCAL}"}})
    if kind is ReplicaJobKind.TRAINING_JOB:
        schema = {**whole, "allOf": [*whole["allOf"], _one_of_spellings(TRAINING_INPUT)]}
        described = "A Job of AI Platform Training"
    else:
        outer = {name: whole["properties"][name] for name in whole["properties"] if name != JOB_SPEC}
        bare = schemas.structure(_SPEC, f"{JOB_SPEC}.", beside=outer)
        schema = {"if": _one_of_spellings(JOB_SPEC), "then": whole, "else": bare}
        described = f"A CustomJob, or only its {JOB_SPEC}"
    return {
        "$schema": DRAFT,
        "title": f"smlocal job file: {kind.value}",
        "description": f"{described}, with settings for this machine under {LOCAL}.",
        **schema,
        "$defs": plain_schema({LOCAL: local, **definitions}),
    }


def answer_schema(kind: ReplicaJobKind) -> _Json:
    """The service's answer about a job: its request, and the members that the service sets."""
    own = {name: member for name, member in members(kind, kind.value).items() if member.output}
    set_there = {name: _set_by_the_service(member) for name, member in own.items()}
    schema = job_file_schema(kind)
    asked = schema if kind is ReplicaJobKind.TRAINING_JOB else schema["then"]
    request = {name: member for name, member in asked["properties"].items() if name != LOCAL}
    named = "jobId" if kind is ReplicaJobKind.TRAINING_JOB else "displayName"
    return {
        "description": f"A {kind.value}",
        "properties": {**request, **set_there},
        "required": [TRAINING_INPUT if kind is ReplicaJobKind.TRAINING_JOB else JOB_SPEC, named, "state", "createTime"],
    }


def _set_by_the_service(member: ModelMember) -> _Json:
    if member.type == "enum":
        return {"enum": list(member.values)}
    text = member.type in {"string", "datetime"} and not member.many
    return {"type": "string"} if text else {}


class _Schemas:
    """The schemas of the structures of a kind of job, each written where it is used: a row may be about one place."""

    def __init__(self, kind: ReplicaJobKind) -> None:
        self._kind = kind
        self._rows: Mapping[str, CoverageRow] = table(kind)

    def structure(self, name: str, prefix: str, *, beside: _Json | None = None) -> _Json:
        """`prefix` is what begins the names of its rows; `beside` has members of another structure."""
        known = {each: member for each, member in members(self._kind, name).items() if not member.output}
        properties = {each: self._member(member, each, f"{prefix}{each}") for each, member in known.items()}
        properties |= {each: schema for each, schema in (beside or {}).items() if each not in properties}
        required = [each for each, member in known.items() if member.required]
        return {
            "type": "object",
            "properties": properties,
            # Editors complete the names of the REST API, and take the others too.
            "patternProperties": {
                f"^{snake_name(each)}$": schema for each, schema in properties.items() if _has_spellings(each)
            },
            "additionalProperties": False,
            "allOf": [_one_of_spellings(each) for each in required],
        }

    def _member(self, member: ModelMember, name: str, place: str) -> _Json:
        row = self._rows.get(place) or self._rows.get(f"{place}[]")
        described: _Json = {} if row is None else {"description": f"{row.support}: {row.note}"}
        if member.many == "list":
            return {**described, "type": "array", "items": self._element(member, name, f"{place}[]")}
        if member.many == "map":
            return {**described, "type": "object", "additionalProperties": self._element(member, name, place)}
        return {**self._element(member, name, place), **described}

    def _element(self, member: ModelMember, name: str, place: str) -> _Json:
        if is_structure(self._kind, member.type):
            return self.structure(member.type, f"{place}.")
        if member.type == "enum":
            return {"enum": list(member.values)}
        if name in _MACHINE_TYPES:
            return {"enum": offered(self._kind)}
        return dict(_SIMPLE.get(member.type, {"type": "string"}))


def _one_of_spellings(name: str) -> _Json:
    """The member is required, in one of its spellings."""
    if not _has_spellings(name):
        return {"required": [name]}
    return {"anyOf": [{"required": [name]}, {"required": [snake_name(name)]}]}


def _has_spellings(name: str) -> bool:
    return name != LOCAL and snake_name(name) != name
