"""A document as a request, or all mistakes in it beyond the types of its members."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.ai_platform import coverage
from smlocal.ai_platform.identity import JOB_ID
from smlocal.ai_platform.machine_types import (
    ATTACHABLE,
    ATTACHABLE_COUNTS,
    MachineType,
    has_tpus,
    machine_type,
    offered,
)
from smlocal.ai_platform.model.members import ReplicaJobKind, members
from smlocal.ai_platform.shape import job_kinds
from smlocal.ai_platform.validation.reading import Reading, read_document, seconds
from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.option import LOCAL
from smlocal.terms.validation.violation import Path, Violation, closest, dotted

Broken = tuple[Path, str]
"""A path in the request, and the rest of a sentence that begins with its place in the document."""
_REGISTRIES: Final = ("gcr.io/", "docker.pkg.dev/")
_LIKENESS: Final = 0.75
"""Names of machine types resemble each other."""
_LONGEST_LABEL: Final = 64
_BUCKET: Final = "a Cloud Storage location, such as gs://bucket/folder"


def part(data: Mapping[str, Any], *steps: str | int) -> Any:
    """A part of a request; None if there is none."""
    found: Any = data
    for step in steps:
        if isinstance(step, int):
            found = found[step] if isinstance(found, list) and step < len(found) else None
        else:
            found = found.get(step) if isinstance(found, Mapping) else None
    return found


def machine_rules(name: str, kind: ReplicaJobKind, path: Path) -> Iterator[Broken]:
    """The machine type exists."""
    if machine_type(name, kind) is not None or has_tpus(name, kind):
        return
    for other in ReplicaJobKind:
        if machine_type(name, other) is not None:
            yield path, f"is {name}, which only a {other.spoken} can have"
            return
    meant = closest(name, offered(kind), likeness=_LIKENESS)
    hint = f": did you mean {meant}?" if meant else "; for the list of machine types: smlocal help ai-platform"
    yield path, f"is {name}, which is not a machine type of the service{hint}"


def accelerator_rules(
    machine: MachineType | None, accelerator: str | None, count: int | None, *, type_path: Path, count_path: Path
) -> Iterator[Broken]:
    """Type and count belong together, and the machine can have them."""
    if accelerator is None and count:
        yield type_path, f"is required with {count_path[-1]}"
    elif accelerator is not None and not count:
        yield count_path, f"is required with {type_path[-1]}"
    elif machine is None or accelerator is None or count is None or accelerator.startswith("TPU"):
        return
    elif machine.gpus:
        if accelerator != machine.gpu:
            yield type_path, f"is {accelerator}, and {machine.name} has {machine.gpu}"
        elif count > machine.gpus:
            yield count_path, f"is {count}, and {machine.name} has {machine.gpus}"
    elif accelerator not in ATTACHABLE or not machine.takes_accelerators:
        yield type_path, f"is {accelerator}, which cannot be attached to {machine.name}"
    elif count not in ATTACHABLE_COUNTS:
        yield count_path, f"is {count} and must be 1, 2, 4 or 8"


def location_rules(location: str | None, path: Path) -> Iterator[Broken]:
    """The location is a folder in a bucket."""
    bucket = (location or "").removeprefix("gs://").partition("/")[0]
    if location is not None and (not location.startswith("gs://") or not bucket):
        yield path, f"must be {_BUCKET}"


def duration_rules(duration: str | None, path: Path, *, least: float = 0, or_zero: bool = False) -> Iterator[Broken]:
    """The duration is more than nothing, and at least `least` seconds."""
    if duration is None:
        return
    given = seconds(duration)
    if given == 0 and or_zero:
        return
    if given <= 0:
        yield path, f"is {duration} and must be more than 0s"
    elif given < least:
        yield path, f"is {duration} and must be at least {least:g}s"


def image_rules(image: str | None, path: Path, *, strict: bool) -> Iterator[Broken]:
    """There is an image. On the service it must be in one of the vendor's own registries."""
    if image is None:
        return
    registry = image.partition("/")[0] + "/"
    if not image.strip():
        yield path, "is empty; give the name of an image"
    elif strict and not registry.endswith(_REGISTRIES):
        yield path, "must be in Artifact Registry (LOCATION-docker.pkg.dev) or Container Registry (gcr.io)"


def label_rules(labels: Mapping[str, str], path: Path) -> Iterator[Broken]:
    """Keys and values are short."""
    for key, value in labels.items():
        if len(key) > _LONGEST_LABEL or len(value) > _LONGEST_LABEL:
            yield (*path, key), f"is longer than {_LONGEST_LABEL} characters"


def first_of(names: Sequence[str], data: Mapping[str, Any]) -> str | None:
    """The first of these members that the data has."""
    return next((name for name in names if name in data), None)


# The rules for a custom job, beyond the types of its members.

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
        yield (*path, "replicaCount"), f"is {count} and must be 1: the first pool is the primary replica"
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
    yield from machine_rules(name, ReplicaJobKind.CUSTOM_JOB, (*path, "machineSpec", "machineType"))
    yield from accelerator_rules(
        machine_type(name, ReplicaJobKind.CUSTOM_JOB),
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


# The rules for a job of AI Platform Training, beyond the types of its members.

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
            yield (*_INPUT, described), f"is for replicas that the job does not have: set {role}Count, or remove it"
    yield from _same_category(given)


def _same_category(given: Mapping[str, Any]) -> Iterator[Broken]:
    """All machine types are Compute Engine's, or all are legacy ones."""
    master = _master_machine(given, "master")
    for role in _ROLES[1:]:
        other = _master_machine(given, role)
        if master is not None and other is not None and (master.where == "legacy") != (other.where == "legacy"):
            text = (
                f"is {other.name} and masterType is {master.name}: use Compute Engine or legacy machine types, not both"
            )
            yield (*_INPUT, f"{role}Type"), text


def _master_machine(given: Mapping[str, Any], role: str) -> MachineType | None:
    name = given.get(f"{role}Type")
    return None if name is None else machine_type(name, ReplicaJobKind.TRAINING_JOB)


def _replica(given: Mapping[str, Any], role: str, *, strict: bool) -> Iterator[Broken]:
    name = given.get(f"{role}Type")
    if name is not None:
        yield from machine_rules(name, ReplicaJobKind.TRAINING_JOB, (*_INPUT, f"{role}Type"))
    config = given.get(f"{role}Config") or {}
    path = (*_INPUT, f"{role}Config")
    yield from image_rules(config.get("imageUri"), (*path, "imageUri"), strict=strict)
    accelerators = config.get("acceleratorConfig")
    if accelerators is None:
        return
    machine = _master_machine(given, role)
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
    """The program: the master's image, with arguments of the job or of the replicas."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestReading:
    """The content of a document. It can be run if both lists are empty."""

    kind: ReplicaJobKind
    request: dict[str, Any]
    """The whole Job or CustomJob, with the members' own names, and whole numbers as numbers."""
    violations: list[Violation]
    refused: list[tuple[str, Violation]]
    """Members that smlocal does not support, by the name of their row in the coverage table."""


def read_request(data: Mapping[str, Any], *, strict: bool) -> RequestReading:
    """Read a document that has a key of this platform. Its `Local` block is left out."""
    kinds = job_kinds(data)
    kind = next(iter(kinds))
    others = [name for other, name in kinds.items() if other is not kind]
    foreign = _keys_of_others(kind, data)
    asked = {key: value for key, value in data.items() if key not in {LOCAL, *others, *foreign}}
    reading = read_document(kind, asked, strict=strict)
    violations = [_second_shape(kind, kinds[kind], name) for name in others] + reading.violations
    violations += [_mixed(kind, kinds[kind], name) for name in foreign]
    violations += [_violation(reading, path, text) for path, text in _broken(reading, strict=strict)]
    refused = [
        (name, _violation(reading, path, text)) for name, path, text in coverage.refused_members(kind, reading.request)
    ]
    return RequestReading(kind=kind, request=reading.request, violations=violations, refused=refused)


def _broken(reading: Reading, *, strict: bool) -> list[tuple[tuple[str | int, ...], str]]:
    if reading.kind is ReplicaJobKind.TRAINING_JOB:
        return list(training_job_rules(reading.request, strict=strict))

    return list(custom_job_rules(reading.request, strict=strict))


def _violation(reading: Reading, path: tuple[str | int, ...], text: str) -> Violation:
    place = reading.place(path)
    return Violation(path=place, text=f"{dotted(place)} {text}")


def _second_shape(kind: ReplicaJobKind, first: str, second: str) -> Violation:
    text = f"{second} cannot stand beside {first}, which makes this a {kind.spoken}: a file describes one job"
    return Violation(path=(second,), text=text)


def _keys_of_others(kind: ReplicaJobKind, data: Mapping[str, Any]) -> list[str]:
    """Keys of another platform, by their capital letter. A member of this one with a wrong first letter is none."""
    own = {LOCAL, *members(kind, kind.value)}
    if kind is ReplicaJobKind.CUSTOM_JOB:
        own |= {*members(kind, "CustomJobSpec")}
    folded = {name.casefold() for name in own}
    capital = [key for key in data if key[:1].isupper() and key.casefold() not in folded]
    return [key for key in capital if closest(key, [LOCAL]) is None]


def _mixed(kind: ReplicaJobKind, first: str, key: str) -> Violation:
    text = (
        f"{key} cannot stand beside {first}, which makes this a {kind.spoken}: keys that begin with a capital letter"
        " are of another platform's requests, and a file describes one job"
    )
    return Violation(path=(key,), text=text)
