"""Finds every violation in a request and words it as the service does.

Usual validators stop at the first broken constraint of a member; the service reports all of them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, TypeVar, get_args, get_origin

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.masking import HIDDEN, masked, masked_words, with_strings
from smlocal.terms.model.structure import (
    Checked,
    Items,
    OrHere,
    Structure,
    Text,
    Whole,
    member_types,
    members,
    split,
)
from smlocal.terms.validation.violation import Path, Violation, closest, dotted, kind_of, spoken
from smlocal.terms.validation.wording import (
    NOT_NULL,
    Broken,
    broken_number,
    broken_size,
    broken_text,
    constraints,
    java,
    member_name,
    one_line,
    sentence,
    short_sentence,
    spoken_key,
)

_KEY = "the key"
_MOST_SUGGESTIONS = 100
"""For the unknown keys of one map: each takes a tenth of a millisecond."""
MOST_VIOLATIONS = 1_000
"""The most violations of one document. More would not be read, and each takes time and memory."""
Written = Callable[[Path], str | None]
"""Returns a value as written in the file, for example `010` instead of 10."""


def not_known(_: Path) -> None:
    """For data that is not from a file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """The current position, with the service's spelling."""

    path: Path = ()
    service: str = ""
    strict: bool = False
    ours: bool = False
    """True in the `Local` block."""
    written: Written = not_known

    def member(self, name: str) -> "_Place":
        spoken = name if self.ours else member_name(name)
        inner = f"{self.service}.{spoken}" if self.service else spoken
        return replace(self, path=(*self.path, name), service=inner)

    def item(self, index: int) -> "_Place":
        return replace(self, path=(*self.path, index), service=f"{self.service}.{index + 1}.member")

    def key(self, key: str) -> "_Place":
        return replace(self, path=(*self.path, key), service=f"{self.service}.{spoken_key(key)}.member")


def violations(
    model: type[Structure], data: Any, *, strict: bool, path: Path = (), written: Written = not_known
) -> list[Violation]:
    """All violations in the data, up to `MOST_VIOLATIONS`. A `path` means that it is the `Local` block."""
    place = _Place(path=path, service=dotted(path), strict=strict, ours=bool(path), written=written)
    found = list(islice(_structure(model, data, place), MOST_VIOLATIONS))
    return [replace(violation, service=None) for violation in found] if place.ours else found


def _structure(model: type[Structure], data: Any, place: _Place) -> Iterator[Violation]:
    if not isinstance(data, dict):
        yield _wrong_type(model, data, place)
        return
    known = members(model)
    yield from _unknown([name for name in data if name not in known], model, list(known), place)
    for name, member in known.items():
        if data.get(name) is not None:
            yield from _value(member.present, data[name], place.member(name))
        elif member.is_required or (name in data and not member.is_nullable):
            inner = place.member(name)
            text = sentence(None, inner.service, NOT_NULL)
            yield Violation(path=inner.path, text=text, service=text)


def _value(annotation: Any, value: Any, place: _Place) -> Iterator[Violation]:
    kind, constraint = split(annotation)
    if isinstance(kind, type) and issubclass(kind, Structure):
        yield from _structure(kind, value, place)
    elif isinstance(constraint, Checked):
        trouble = constraint.trouble(value)
        if trouble is not None:
            yield Violation(path=place.path, text=f"{java(spoken(place.path))} {trouble}")
    elif not _fits(kind, value):
        yield _wrong_type(kind, value, place)
    elif get_origin(kind) is list:
        yield from _sized(constraint, value, place)
        yield from _list(get_args(kind)[0], value, place)
    elif get_origin(kind) is dict:
        yield from _sized(constraint, value, place)
        yield from _map(kind, value, place)
    else:
        for broken in _broken(kind, constraint, value, strict=place.strict):
            yield Violation(
                path=place.path,
                text=short_sentence(value, place.service, broken.short) + _meant(value, broken, constraint, place),
                service=sentence(value, place.service, broken.full),
            )


def _fits(kind: Any, value: Any) -> bool:
    origin = get_origin(kind)
    if origin in (list, dict):
        return isinstance(value, origin)
    if origin is Literal or kind is str:
        return isinstance(value, str) and _encodable(value)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is kind


def _encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _broken(kind: Any, constraint: Any, value: Any, *, strict: bool) -> Iterator[Broken]:
    if get_origin(kind) is Literal:
        here = constraint.words if isinstance(constraint, OrHere) and not strict else ()
        if value not in get_args(kind) and value not in here:
            yield Broken(constraint="Member must satisfy enum value set", names=get_args(kind))
    elif isinstance(constraint, Text):
        yield from broken_text(constraint, value, strict=strict)
    elif isinstance(constraint, Whole):
        yield from broken_number(constraint, value)


def _meant(value: Any, broken: Broken, constraint: Any, place: _Place) -> str:
    here = constraint.words if isinstance(constraint, OrHere) and not place.strict else ()
    if isinstance(constraint, Text) and constraint.or_path and not value:
        return " - write an s3:// location" if place.strict else " - write a path or an s3:// location"
    meant = closest(value, [*broken.names, *here]) if broken.names else None
    return f" - did you mean {meant}?" if meant else ""


def _sized(constraint: Items | None, value: Any, place: _Place) -> Iterator[Violation]:
    for broken in broken_size(constraint, len(value)) if constraint is not None else ():
        yield Violation(
            path=place.path,
            text=f"{short_sentence(_masked(value), place.service, broken.short)} - it has {len(value)}",
            service=sentence(value, place.service, broken.full),
        )


def _list(annotation: Any, values: list[Any], place: _Place) -> Iterator[Violation]:
    kind, _ = split(annotation)
    if isinstance(kind, type) and issubclass(kind, Structure):
        for index, value in enumerate(values):
            yield from _structure(kind, value, place.item(index))
        return
    elements = ((value, place.item(index), f"member {index + 1} is") for index, value in enumerate(values))
    yield from _elements("Member", annotation, elements, values, place)


def _map(annotation: Any, values: dict[str, Any], place: _Place) -> Iterator[Violation]:
    keys, items = get_args(annotation)
    yield from _elements("Map keys", keys, ((key, place.key(key), _KEY) for key in values), values, place)
    elements = ((value, place.key(key), f"{spoken_key(key)} is") for key, value in values.items())
    yield from _elements("Map value", items, elements, values, place)


def _elements(
    what: str, annotation: Any, elements: Iterable[tuple[Any, _Place, str]], values: Any, place: _Place
) -> Iterator[Violation]:
    """Violations of a list or map of simple values.

    The service reports it as a whole; the terminal also shows the element.
    """
    kind, constraint = split(annotation)
    demands = f"{what} must satisfy constraint: [{', '.join(constraints(kind, constraint))}]"
    whole: tuple[Any, str, str] | None = None  # made once: its text is as long as all elements together
    for value, inner, which in elements:
        if not _fits(kind, value):
            yield _wrong_type(kind, value, inner)
        elif any(True for _ in _broken(kind, constraint, value, strict=inner.strict)):
            if whole is None:
                hidden = _masked(values)
                texts = (short_sentence(hidden, place.service, demands), sentence(values, place.service, demands))
                whole = (hidden, *texts)
            hidden, text, service = whole
            shown = value if which == _KEY else hidden[inner.path[-1]]
            yield Violation(path=inner.path, text=f"{text} - {which} {_quoted(shown)}", service=service)


def _masked(value: Any, name: str = "") -> Any:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return masked_words(value)
    return with_strings(value, masked, name)


def _quoted(value: Any) -> str:
    text = one_line(java(value))
    size = f" ({len(text)} characters)" if len(text) > 40 else ""  # noqa: PLR2004 - what fits on a line
    return f"'{text[:40]}…'{size}" if size else f"'{text}'"


def _unknown(names: list[str], model: type[Structure], known: list[str], place: _Place) -> Iterator[Violation]:
    if not place.path:
        known = [*known, "Local"]
    listed = False
    for index, name in enumerate(names):
        hint = _hint(name, model, known, place) if index < _MOST_SUGGESTIONS else ""
        if not hint and not listed:
            listed, hint = True, f" (known here: {', '.join(known)})"
        path = (*place.path, name)
        yield Violation(path=path, text=f"unknown key {java(spoken(path))}{hint}")


def _hint(name: str, model: type[Structure], known: list[str], place: _Place) -> str:
    meant = closest(name, known)
    home = _home(name, model) if not place.path else None
    if home is not None and (meant is None or meant.casefold() != name.casefold()):
        return f": it belongs in {home}"
    return f": did you mean {meant}?" if meant is not None else ""


def _home(name: str, model: type[Structure]) -> str | None:
    """The member of the request that contains a member of this name."""
    for member, annotation in member_types(model).items():
        kind, _ = split(annotation)
        if isinstance(kind, type) and issubclass(kind, Structure) and name in members(kind):
            return member
    return None


def _wrong_type(kind: Any, value: Any, place: _Place) -> Violation:
    wanted = _wanted(kind)
    name = str(place.path[-1]) if place.path else ""
    plain = isinstance(value, bool | int | float)
    shown = (place.written(place.path) if plain else None) or java(_masked(value))
    if plain and kind is str:  # a member of another type holds no secret, whatever its name
        shown = _masked(shown, name)
    if len(shown) > 40:  # noqa: PLR2004 - what fits on a line
        shown = f"{shown[:40]}…"
    shown = f'"{shown}"' if isinstance(value, str) else shown
    what = "null" if value is None else f"{shown} ({kind_of(value)})"
    if isinstance(value, str) and not _encodable(value):
        what, wanted = "not valid Unicode", "text"
    return Violation(
        path=place.path,
        text=f"{java(spoken(place.path)) or 'the request'} is {what} and must be {wanted}{_cure(wanted, value, shown)}",
    )


def _wanted(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, Structure):
        return "a map"
    named = {list: "a list", dict: "a map", int: "a whole number", float: "a number", bool: "true or false"}
    return named.get(get_origin(kind) or kind, "a string")


def _cure_of_number(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return f": write {value:.0f}"
    quoted = isinstance(value, str) and value.strip().lstrip("-").isdecimal()
    return ": write it without quotes" if quoted else ""


def _cure(wanted: str, value: Any, shown: str) -> str:
    if wanted == "a string":
        if isinstance(value, bool | int | float):
            return ": quote it" if shown == HIDDEN else f': quote it, "{shown}"'
        if isinstance(value, list | dict):
            return ": quote it as JSON text, or flatten it"
    if isinstance(value, str) and wanted == "true or false":
        return ": write true or false"
    if wanted == "a whole number":
        return _cure_of_number(value)
    if wanted == "a list" and isinstance(value, str | dict):
        return ": put it in a list"
    return ""


# Validates a document and builds a model from it.

Model = TypeVar("Model", bound=Structure)


def validate(
    model: type[Model], data: Any, *, strict: bool, path: Path = (), written: Written = not_known
) -> tuple[Model | None, list[Violation]]:
    """The data as a model, or all mistakes in it. A `path` means that it is the `Local` block.

    `written` returns a number as it is written in the file, if that is known.
    """
    found = violations(model, data, strict=strict, path=path, written=written)
    return (None, found) if found else (_made(model, data), [])


def _made(annotation: Any, value: Any) -> Any:
    """A copy, so that later changes of the data have no effect."""
    kind, _ = split(annotation)
    if value is None:
        return None
    if isinstance(kind, type) and issubclass(kind, Structure):
        types = member_types(kind)
        return kind(**{name: _made(types[name], item) for name, item in value.items()})
    if isinstance(value, list):
        return [_made(get_args(kind)[0], item) for item in value]
    return dict(value) if isinstance(value, dict) else value


def missing(path: Path) -> Violation:
    """The violation for a required member that is missing."""
    place = ".".join(f"{step + 1}.member" if isinstance(step, int) else member_name(step) for step in path)
    text = sentence(None, place, NOT_NULL)
    return Violation(path=path, text=text, service=text)
