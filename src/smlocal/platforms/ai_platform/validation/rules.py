"""What rules have in common: where a mistake is, and what is said about it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.contract.validation.member_path import Path
from smlocal.contract.validation.suggestions import closest
from smlocal.platforms.ai_platform.machine_types import (
    ATTACHABLE,
    ATTACHABLE_COUNTS,
    MachineType,
    has_tpus,
    machine_type,
    offered,
)
from smlocal.platforms.ai_platform.model.members import JobKind
from smlocal.platforms.ai_platform.validation.values import seconds

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


def machine_rules(name: str, kind: JobKind, path: Path) -> Iterator[Broken]:
    """The machine type exists."""
    if machine_type(name, kind) is not None or has_tpus(name, kind):
        return
    for other in JobKind:
        if machine_type(name, other) is not None:
            yield path, f"is {name}, which only a {other.spoken} can have"
            return
    meant = closest(name, offered(kind), likeness=_LIKENESS)
    hint = f": did you mean {meant}?" if meant else "; docs/ai-platform.md lists the machine types"
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
