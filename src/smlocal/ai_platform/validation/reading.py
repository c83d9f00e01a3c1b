"""Read a document as a job of one kind: its request, and all mistakes in names and types."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.ai_platform.model.members import ModelMember, ReplicaJobKind, is_structure, members, structures
from smlocal.ai_platform.shape import JOB_SPEC, WORKER_POOLS, camel
from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.validation.violation import Path, Violation, closest, dotted, kind_of

_NOTHING: Final[Any] = object()
_PRIMARY: Final = "masterConfig"
"""If several places have such a member, the one that most jobs have."""
_MOST_SUGGESTIONS: Final = 100
"""For unknown keys: each takes a tenth of a millisecond."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The content of a document, with its valid parts only."""

    kind: ReplicaJobKind
    request: dict[str, Any]
    """With the members' own names, whole numbers as numbers, and without values that are null or unspecified."""
    violations: list[Violation]
    places: Mapping[Path, Path]
    """Where each part of the request is in the document."""

    def place(self, path: Path) -> Path:
        """Where a part is in the document, or would be."""
        for length in range(len(path), 0, -1):
            known = self.places.get(path[:length])
            if known is not None:
                return known + path[length:]
        return path


def read_document(kind: ReplicaJobKind, data: Mapping[str, Any], *, strict: bool) -> Reading:
    """Read a document without its `Local` block. `strict` requires what the service requires."""
    reader = _Reader(kind, strict=strict)
    if kind is ReplicaJobKind.CUSTOM_JOB and JOB_SPEC not in map(camel, data) and WORKER_POOLS in map(camel, data):
        request = reader.bare_spec(data)
    else:
        request = reader.structure(kind.value, data, (), ())
    return Reading(kind=kind, request=request, violations=reader.violations, places=reader.places)


class _Reader:
    def __init__(self, kind: ReplicaJobKind, *, strict: bool) -> None:
        self.kind = kind
        self.strict = strict
        self.violations: list[Violation] = []
        self.places: dict[Path, Path] = {}
        self.is_bare = False
        """True if the top level is that of a CustomJobSpec."""
        self.unknown = 0

    def bare_spec(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """A document whose top level is a CustomJobSpec, perhaps with members of the CustomJob beside it."""
        self.is_bare = True
        whole = members(self.kind, self.kind.value)
        outer = {key: value for key, value in data.items() if camel(key) in whole}
        inner = {key: value for key, value in data.items() if key not in outer}
        spec = self.structure("CustomJobSpec", inner, (JOB_SPEC,), ())
        return {**self.structure(self.kind.value, outer, (), (), given=(JOB_SPEC,)), JOB_SPEC: spec}

    def structure(self, name: str, data: Any, at: Path, place: Path, *, given: tuple[str, ...] = ()) -> dict[str, Any]:
        """`at` is the path in the request, `place` in the document; `given` are members read elsewhere."""
        if not isinstance(data, Mapping):
            self.wrong(place, f"is {kind_of(data)} and must be a map")
            return {}
        known = members(self.kind, name)
        read: dict[str, Any] = {}
        seen = dict.fromkeys(given)
        for key, value in data.items():
            member = key if key in known else camel(key)
            if member not in known:
                self.unknown_key((*place, key), known)
            elif value is None:
                continue
            elif member in seen:
                self.wrong((*place, key), f"is given twice, also as {seen[member]}")
            else:
                seen[member] = key
                self.places[*at, member] = (*place, key)
                found = self.member(known[member], value, (*at, member), (*place, key))
                if found is not _NOTHING:
                    read[member] = found
        for member, described in known.items():
            if (described.required or (self.strict and described.required_when_strict)) and member not in seen:
                self.wrong((*place, member), "is required")
        return read

    def member(self, member: ModelMember, value: Any, at: Path, place: Path) -> Any:
        if member.output:
            self.wrong(place, "is set by the service and cannot be in a request")
            return _NOTHING
        if member.many == "list":
            return self.list(member, value, at, place)
        if member.many == "map":
            return self.map(member, value, at, place)
        return self.element(member, value, at, place)

    def list(self, member: ModelMember, value: Any, at: Path, place: Path) -> Any:
        if not isinstance(value, list):
            cure = ": put it in a list" if isinstance(value, str | dict) else ""
            self.wrong(place, f"is {kind_of(value)} and must be a list{cure}")
            return _NOTHING
        read = []
        for index, item in enumerate(value):
            self.places[*at, index] = (*place, index)
            found = self.element(member, item, (*at, index), (*place, index))
            # Invalid elements keep their places, so that the numbers of the others stay true.
            read.append(({} if is_structure(self.kind, member.type) else "") if found is _NOTHING else found)
        return read

    def map(self, member: ModelMember, value: Any, at: Path, place: Path) -> Any:
        if not isinstance(value, dict):
            self.wrong(place, f"is {kind_of(value)} and must be a map")
            return _NOTHING
        read = {key: self.element(member, item, (*at, key), (*place, key)) for key, item in value.items()}
        return {key: item for key, item in read.items() if item is not _NOTHING}

    def element(self, member: ModelMember, value: Any, at: Path, place: Path) -> Any:
        if is_structure(self.kind, member.type):
            if value is None:
                self.wrong(place, "is null; write {} for an empty one")
                return _NOTHING
            return self.structure(member.type, value, at, place)
        try:
            read = plain_value(member.type, member.values, value)
        except ValueRefusedError as refused:
            self.wrong(place, str(refused))
            return _NOTHING
        return _NOTHING if member.type == "enum" and read.endswith("_UNSPECIFIED") else read

    def wrong(self, place: Path, text: str) -> None:
        self.violations.append(Violation(path=place, text=f"{dotted(place) or 'the request'} {text}"))

    def unknown_key(self, place: Path, known: Mapping[str, ModelMember]) -> None:
        self.unknown += 1
        hint = self.hint(str(place[-1]), known, top=len(place) == 1) if self.unknown <= _MOST_SUGGESTIONS else ""
        self.violations.append(Violation(path=place, text=f"unknown key {dotted(place)}{hint}"))

    def hint(self, name: str, known: Mapping[str, ModelMember], *, top: bool) -> str:
        local = ["Local"] if top else []
        meant = closest(camel(name), [*(each for each in known if not known[each].output), *local])
        home = min(self.homes(camel(name)), key=lambda each: _PRIMARY not in each, default=None)
        if home is not None and (meant is None or meant.casefold() != camel(name).casefold()):
            return f": it belongs in {home}"
        return f": did you mean {meant}?" if meant is not None else f" (known here: {', '.join([*known, *local])})"

    def homes(self, name: str) -> Iterator[str]:
        """The places of members with this name, the nearest to the top first."""
        todo: list[tuple[str, Path]] = [(self.kind.value, ())]
        done = set()
        for structure, path in todo:
            if name in structures(self.kind)[structure] and path:
                yield dotted(path[1:] if self.is_bare and path[0] == JOB_SPEC else path)
            done.add(structure)
            for member, described in members(self.kind, structure).items():
                if is_structure(self.kind, described.type) and described.type not in done and not described.output:
                    todo.append((described.type, (*path, member, *((0,) if described.many else ()))))


# Simple values as the services read them from JSON.

_DURATION: Final = r"(-?\d{1,12})(?:\.(\d{1,9}))?s"
_LONGEST_DURATION: Final = 315_576_000_000
"""Seconds of 10,000 years, which is all that a duration can say."""
_WANTED: Final = {"boolean": "true or false", "number": "a number"}
_MOST_VALUES: Final = 30
"""Values of an enumeration that a message lists."""


class ValueRefusedError(Exception):
    """A value is not of its type; the text continues a sentence that begins with its place."""


def plain_value(type_name: str, values: Sequence[str], given: Any) -> Any:
    """The value as the service stores it; `ValueRefusedError` if it is not of the type.

    Whole numbers may be strings, as in the services' own JSON.
    """
    if type_name == "enum":
        return _enumerated(values, given)
    if type_name in {"string", "bytes", "datetime"}:
        return _text(given)
    if type_name == "boolean" and isinstance(given, bool):
        return given
    if type_name in {"int32", "int64"}:
        return _whole(given, 32 if type_name == "int32" else 64)
    if type_name == "number" and isinstance(given, int | float) and not isinstance(given, bool):
        return given
    if type_name == "duration":
        return _duration(given)
    raise ValueRefusedError(f"is {kind_of(given)} and must be {_WANTED[type_name]}")


def seconds(duration: str) -> float:
    """`3600s` to 3600.0."""
    return float(duration.removesuffix("s"))


def _text(given: Any) -> str:
    if not isinstance(given, str):
        cure = ": quote it" if isinstance(given, bool | int | float) else ""
        raise ValueRefusedError(f"is {kind_of(given)} and must be a string{cure}")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise ValueRefusedError("is not valid Unicode") from None
    return given


def _whole(given: Any, bits: int) -> int:
    if isinstance(given, str) and re.fullmatch(r"-?\d{1,19}", given, re.ASCII):
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int):
        raise ValueRefusedError(f"is {kind_of(given)} and must be a whole number")
    if not -(2 ** (bits - 1)) <= given < 2 ** (bits - 1):
        raise ValueRefusedError(f"does not fit into {bits} bits")
    return given


def _duration(given: Any) -> str:
    """With 0, 3, 6 or 9 digits after the point, as the services write it."""
    found = re.fullmatch(_DURATION, given, re.ASCII) if isinstance(given, str) else None
    if found is None:
        example = f"write {given}s" if type(given) is int else "such as 3600s"
        raise ValueRefusedError(f"must be a number of seconds with its unit: {example}")
    whole, fraction = int(found[1]), (found[2] or "").rstrip("0")
    if abs(whole) > _LONGEST_DURATION:
        raise ValueRefusedError("is longer than 10,000 years")
    sign = "-" if found[1].startswith("-") and not whole and fraction else ""
    return f"{sign}{whole}{f'.{fraction:0<{-(-len(fraction) // 3) * 3}}' if fraction else ''}s"


def _enumerated(values: Sequence[str], given: Any) -> str:
    if not isinstance(given, str):
        raise ValueRefusedError(f"is {kind_of(given)} and must be one of {_listed(values)}")
    if given not in values:
        meant = closest(given, values)
        hint = f": did you mean {meant}?" if meant else f"; it must be one of {_listed(values)}"
        raise ValueRefusedError(f"is not a value of the service{hint}")
    return given


def _listed(values: Sequence[str]) -> str:
    return ", ".join([value for value in values if not value.endswith("_UNSPECIFIED")][:_MOST_VALUES])
