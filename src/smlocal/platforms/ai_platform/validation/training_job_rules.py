"""What a job of AI Platform Training must be, beyond the types of its members."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.contract.validation.member_path import Path
from smlocal.platforms.ai_platform.identity import JOB_ID
from smlocal.platforms.ai_platform.machine_types import MachineType, machine_type
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.validation.rules import (
    Broken,
    accelerator_rules,
    duration_rules,
    first_of,
    image_rules,
    label_rules,
    location_rules,
    machine_rules,
    part,
)

_INPUT: Final[Path] = ("trainingInput",)
_ROLES: Final = ("master", "worker", "parameterServer", "evaluator")
_CLUSTER: Final = (*(f"{role}Type" for role in _ROLES), *(f"{role}Count" for role in _ROLES[1:]))
_SHORTEST_WAIT: Final = 1800


def training_job_rules(request: Mapping[str, Any], *, strict: bool) -> Iterator[Broken]:
    """All broken rules."""
    job_id = request.get("jobId")
    if job_id is not None and not re.fullmatch(JOB_ID, job_id):
        yield ("jobId",), "may have letters, digits and underscores only, and begins with a letter"
    yield from label_rules(part(request, "labels") or {}, ("labels",))
    given = part(request, "trainingInput")
    if given is None:
        if "predictionInput" not in request:
            yield _INPUT, "is required"
        return
    yield from _cluster(given)
    for role in _ROLES:
        yield from _replica(given, role, strict=strict)
    yield from _programs(given)
    yield from location_rules(given.get("jobDir"), (*_INPUT, "jobDir"))
    yield from _scheduling(part(given, "scheduling") or {})


def _cluster(given: Mapping[str, Any]) -> Iterator[Broken]:
    """Machine types and counts are for the scale tier CUSTOM, and belong together."""
    tier = given.get("scaleTier", "BASIC")
    if tier != "CUSTOM":
        for name in _CLUSTER:
            if given.get(name):
                yield (*_INPUT, name), f"needs scaleTier: CUSTOM; this one is {tier}"
        return
    if "masterType" not in given:
        yield (*_INPUT, "masterType"), "is required with scaleTier: CUSTOM"
    for role in _ROLES[1:]:
        count = given.get(f"{role}Count", 0)
        if count < 0:
            yield (*_INPUT, f"{role}Count"), f"is {count} and must not be negative"
        if count > 0 and f"{role}Type" not in given:
            yield (*_INPUT, f"{role}Type"), f"is required with {role}Count: {count}"
        described = first_of((f"{role}Type", f"{role}Config"), given)
        if count == 0 and described is not None:
            yield (*_INPUT, described), f"is of no replica: set {role}Count, or remove it"
    yield from _same_category(given)


def _same_category(given: Mapping[str, Any]) -> Iterator[Broken]:
    """All machine types are Compute Engine's, or all are legacy ones."""
    master = _machine(given, "master")
    for role in _ROLES[1:]:
        other = _machine(given, role)
        if master is not None and other is not None and (master.where == "legacy") != (other.where == "legacy"):
            text = (
                f"is {other.name} and masterType is {master.name}: use Compute Engine or legacy machine types, not both"
            )
            yield (*_INPUT, f"{role}Type"), text


def _machine(given: Mapping[str, Any], role: str) -> MachineType | None:
    name = given.get(f"{role}Type")
    return None if name is None else machine_type(name, JobKind.TRAINING_JOB)


def _replica(given: Mapping[str, Any], role: str, *, strict: bool) -> Iterator[Broken]:
    name = given.get(f"{role}Type")
    if name is not None:
        yield from machine_rules(name, JobKind.TRAINING_JOB, (*_INPUT, f"{role}Type"))
    config = given.get(f"{role}Config") or {}
    path = (*_INPUT, f"{role}Config")
    yield from image_rules(config.get("imageUri"), (*path, "imageUri"), strict=strict)
    accelerators = config.get("acceleratorConfig")
    if accelerators is None:
        return
    machine = _machine(given, role)
    if machine is not None and machine.where == "legacy":
        yield (*path, "acceleratorConfig"), f"needs a Compute Engine machine type; {machine.name} is a legacy one"
        return
    yield from accelerator_rules(
        machine,
        accelerators.get("type"),
        accelerators.get("count"),
        type_path=(*path, "acceleratorConfig", "type"),
        count_path=(*path, "acceleratorConfig", "count"),
    )


def _programs(given: Mapping[str, Any]) -> Iterator[Broken]:
    """What runs: the master's image, with arguments of the job or of the replicas."""
    python = first_of(("packageUris", "pythonModule", "runtimeVersion", "pythonVersion"), given)
    if not part(given, "masterConfig", "imageUri") and python is None:
        yield (*_INPUT, "masterConfig", "imageUri"), "is required"
    for role in _ROLES:
        config = given.get(f"{role}Config") or {}
        name = first_of(("containerCommand", "containerArgs"), config)
        if name is not None and given.get("args"):
            yield (*_INPUT, f"{role}Config", name), "cannot stand beside trainingInput.args: give one of the two"


def _scheduling(given: Mapping[str, Any]) -> Iterator[Broken]:
    path = (*_INPUT, "scheduling")
    yield from duration_rules(given.get("maxRunningTime"), (*path, "maxRunningTime"))
    yield from duration_rules(given.get("maxWaitTime"), (*path, "maxWaitTime"), least=_SHORTEST_WAIT)
    priority = given.get("priority", 0)
    if not 0 <= priority <= 1000:  # noqa: PLR2004 - the range of the service
        yield (*path, "priority"), f"is {priority} and must be between 0 and 1000"
