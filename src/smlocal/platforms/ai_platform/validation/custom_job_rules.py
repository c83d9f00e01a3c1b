"""What a custom job must be, beyond the types of its members."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.contract.validation.member_path import Path
from smlocal.platforms.ai_platform.machine_types import machine_type
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.validation.rules import (
    Broken,
    accelerator_rules,
    duration_rules,
    image_rules,
    label_rules,
    location_rules,
    machine_rules,
    part,
)

_SPEC: Final[Path] = ("jobSpec",)
_MOST_POOLS: Final = 4
_LONGEST_NAME: Final = 128
_MOST_VARIABLES: Final = 100
_VARIABLE: Final = r"[A-Za-z_][A-Za-z0-9_]*"


def custom_job_rules(request: Mapping[str, Any], *, strict: bool) -> Iterator[Broken]:
    """All broken rules."""
    name = request.get("displayName")
    if name is not None and not name.strip():
        yield ("displayName",), "is empty"
    elif name is not None and len(name) > _LONGEST_NAME:
        yield ("displayName",), f"has {len(name)} characters and may have {_LONGEST_NAME}"
    yield from label_rules(part(request, "labels") or {}, ("labels",))
    spec = part(request, "jobSpec") or {}
    yield from _pools(spec, strict=strict)
    output = part(spec, "baseOutputDirectory", "outputUriPrefix")
    yield from location_rules(output, (*_SPEC, "baseOutputDirectory", "outputUriPrefix"))
    scheduling = part(spec, "scheduling") or {}
    yield from duration_rules(scheduling.get("timeout"), (*_SPEC, "scheduling", "timeout"))
    wait = (*_SPEC, "scheduling", "maxWaitDuration")
    yield from duration_rules(scheduling.get("maxWaitDuration"), wait, or_zero=True)


def _pools(spec: Mapping[str, Any], *, strict: bool) -> Iterator[Broken]:
    path: Path = (*_SPEC, "workerPoolSpecs")
    pools = spec.get("workerPoolSpecs")
    if pools is None:
        return
    if not pools or not pools[0]:
        yield (*path, 0), "is required: the first pool is the primary replica"
    for index, pool in enumerate(pools):
        if index >= _MOST_POOLS:
            yield (*path, index), f"is one too many: a job has at most {_MOST_POOLS} pools"
        elif pool:
            yield from _pool(pool, (*path, index), is_first=index == 0, strict=strict)


def _pool(pool: Mapping[str, Any], path: Path, *, is_first: bool, strict: bool) -> Iterator[Broken]:
    count = pool.get("replicaCount", 1)
    if is_first and count != 1:
        yield (*path, "replicaCount"), f"is {count} and must be 1: the first pool is the primary replica alone"
    elif count < 1:
        yield (*path, "replicaCount"), f"is {count} and must be at least 1; write {{}} to skip a pool"
    yield from _machine(pool, path)
    container = pool.get("containerSpec")
    if container is None and "pythonPackageSpec" not in pool:
        yield (*path, "containerSpec"), "is required"
    elif container is not None and "pythonPackageSpec" in pool:
        yield (*path, "pythonPackageSpec"), "cannot stand beside containerSpec: give one of the two"
    if container is not None:
        yield from image_rules(container.get("imageUri"), (*path, "containerSpec", "imageUri"), strict=strict)
        yield from _environment(container.get("env", []), (*path, "containerSpec", "env"))


def _machine(pool: Mapping[str, Any], path: Path) -> Iterator[Broken]:
    spec = pool.get("machineSpec", {})
    name = spec.get("machineType")
    if name is None:
        yield (*path, "machineSpec", "machineType"), "is required"
        return
    yield from machine_rules(name, JobKind.CUSTOM_JOB, (*path, "machineSpec", "machineType"))
    yield from accelerator_rules(
        machine_type(name, JobKind.CUSTOM_JOB),
        spec.get("acceleratorType"),
        spec.get("acceleratorCount"),
        type_path=(*path, "machineSpec", "acceleratorType"),
        count_path=(*path, "machineSpec", "acceleratorCount"),
    )


def _environment(variables: list[dict[str, Any]], path: Path) -> Iterator[Broken]:
    if len(variables) > _MOST_VARIABLES:
        yield path, f"has {len(variables)} variables and may have {_MOST_VARIABLES}"
    for index, variable in enumerate(variables):
        name = variable.get("name")
        if name is not None and not re.fullmatch(_VARIABLE, name, re.ASCII):
            yield (*path, index, "name"), "must have letters, digits and underscores only, and no digit first"
