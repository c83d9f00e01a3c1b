"""A document as a request of AI Platform Training or a custom job, or everything that is wrong with it."""

from collections.abc import Mapping
from typing import Any

from smlocal.contract.validation.member_path import dotted
from smlocal.contract.validation.suggestions import closest
from smlocal.contract.validation.violation import Violation
from smlocal.jobfile.option import LOCAL
from smlocal.platforms.ai_platform.coverage import lookup
from smlocal.platforms.ai_platform.model.members import JobKind, members
from smlocal.platforms.ai_platform.shape import job_kinds
from smlocal.platforms.ai_platform.validation.reading import Reading, read_document
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestReading:
    """What a document says. It can be run if both lists are empty."""

    kind: JobKind
    request: dict[str, Any]
    """The whole Job or CustomJob, with the members' own names, and whole numbers as numbers."""
    violations: list[Violation]
    refused: list[tuple[str, Violation]]
    """What smlocal does not support, by the name of its row in the coverage table."""


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
    refused = [(name, _violation(reading, path, text)) for name, path, text in lookup.refused(kind, reading.request)]
    return RequestReading(kind=kind, request=reading.request, violations=violations, refused=refused)


def _broken(reading: Reading, *, strict: bool) -> list[tuple[tuple[str | int, ...], str]]:
    if reading.kind is JobKind.TRAINING_JOB:
        from smlocal.platforms.ai_platform.validation.training_job_rules import training_job_rules

        return list(training_job_rules(reading.request, strict=strict))
    from smlocal.platforms.ai_platform.validation.custom_job_rules import custom_job_rules

    return list(custom_job_rules(reading.request, strict=strict))


def _violation(reading: Reading, path: tuple[str | int, ...], text: str) -> Violation:
    place = reading.place(path)
    return Violation(path=place, text=f"{dotted(place)} {text}")


def _second_shape(kind: JobKind, first: str, second: str) -> Violation:
    text = f"{second} cannot stand beside {first}, which makes this a {kind.spoken}: a file describes one job"
    return Violation(path=(second,), text=text)


def _keys_of_others(kind: JobKind, data: Mapping[str, Any]) -> list[str]:
    """Keys of another platform, by their capital letter. A member of this one with a wrong first letter is none."""
    own = {LOCAL, *members(kind, kind.value)}
    if kind is JobKind.CUSTOM_JOB:
        own |= {*members(kind, "CustomJobSpec")}
    folded = {name.casefold() for name in own}
    capital = [key for key in data if key[:1].isupper() and key.casefold() not in folded]
    return [key for key in capital if closest(key, [LOCAL]) is None]


def _mixed(kind: JobKind, first: str, key: str) -> Violation:
    text = (
        f"{key} cannot stand beside {first}, which makes this a {kind.spoken}: keys that begin with a capital letter"
        " are of another platform's requests, and a file describes one job"
    )
    return Violation(path=(key,), text=text)
