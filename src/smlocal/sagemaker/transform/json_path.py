"""The JSONPath expressions that select a part of a record: the subset that the guide lists. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex


class JsonPathError(Exception):
    """The text is not a valid expression, or selects nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PathStep:
    """One step down. Names, or places in a list; neither: everything."""

    names: tuple[str, ...] = ()
    places: tuple[int | slice, ...] = ()

    @property
    def definite(self) -> bool:
        """True if it leads from one value to one value."""
        return bool(self.names) or (len(self.places) == 1 and isinstance(self.places[0], int))


WHOLE: Final[tuple[PathStep, ...]] = ()
"""The steps of `$`."""
MOST_SELECTED: Final = 1 << 22
"""Values: each step of `[:,:]` doubles how many there are."""
_DOTTED: Final = regex(r"\.(?P<name>[^.\[\]\s'\"*]+|\*)")
_BRACKET: Final = regex(r"\.?\[(?P<inner>(?:'[^']*'|\"[^\"]*\"|[^\]'\"])*)\]")
_PLACE: Final = regex(r"\s*(?:(?P<index>-?\d+)|(?P<start>(?:-?\d+)?)\s*:\s*(?P<stop>(?:-?\d+)?))\s*")
_NAMES: Final = regex(r"\s*(?:'([^']*)'|\"([^\"]*)\")\s*(?:,|$)")


def parse(text: str) -> tuple[PathStep, ...]:
    """The steps of an expression; `JsonPathError` if it is none."""
    if not text.startswith("$"):
        raise JsonPathError("it does not begin with $")
    steps, rest = [], text[1:]
    while rest:
        found = _BRACKET.match(rest) or _DOTTED.match(rest)
        if found is None:
            raise JsonPathError(f"'{rest}' is not a step; write .name, ['name'], [0], [1:] or *")
        steps.append(_bracket(found["inner"]) if "inner" in found.groupdict() else _dotted(found["name"]))
        rest = rest[found.end() :]
    return tuple(steps)


def _dotted(name: str) -> PathStep:
    return PathStep() if name == "*" else PathStep(names=(name,))


def _bracket(inner: str) -> PathStep:
    if inner.strip() == "*":
        return PathStep()
    if "'" in inner or '"' in inner:
        names, at = [], 0
        while at < len(inner):
            found = _NAMES.match(inner, at)
            if found is None:
                raise JsonPathError(f"[{inner}] is not a list of names")
            names.append(found[1] if found[1] is not None else found[2])
            at = found.end()
        return PathStep(names=tuple(names))
    places: list[int | slice] = []
    for part in inner.split(","):
        found = _PLACE.fullmatch(part)
        if found is None:
            raise JsonPathError(f"[{inner}] has neither indexes nor a slice")
        if found["index"] is not None:
            places.append(int(found["index"]))
        else:
            start, stop = (int(each) if each else None for each in (found["start"], found["stop"]))
            places.append(slice(start, stop))
    return PathStep(places=tuple(places))


def select(steps: tuple[PathStep, ...], value: Any) -> Any:
    """The part of a value; `JsonPathError` if there is none, or if it has too many values."""
    values: list[Any] = [value]
    for step in steps:
        found: list[Any] = []
        for each in values:
            for parts in _parts(step, each):
                found += parts
                if len(found) > MOST_SELECTED:
                    raise JsonPathError(f"it selects more than {MOST_SELECTED:,} values")
        values = found
    return values[0] if definite(steps) else values


def definite(steps: tuple[PathStep, ...]) -> bool:
    """True if they lead from one value to one value, and not to a list of several."""
    return all(step.definite for step in steps)


def _parts(step: PathStep, value: Any) -> Iterator[Iterable[Any]]:
    if step.names:
        yield [_named(step.names, value)]
    elif step.places:
        if not isinstance(value, list):
            raise JsonPathError("it is not an array")
        for place in step.places:
            yield _placed(place, value)
    elif isinstance(value, dict | list):
        yield value.values() if isinstance(value, dict) else value
    else:
        raise JsonPathError("there is nothing below it")


def _named(names: tuple[str, ...], value: Any) -> Any:
    """The member, or of several names an object with these members."""
    if not isinstance(value, dict) or not all(name in value for name in names):
        raise JsonPathError(f"there is no {' or '.join(names)}")
    return value[names[0]] if len(names) == 1 else {name: value[name] for name in names}


def _placed(place: int | slice, value: list[Any]) -> list[Any]:
    if isinstance(place, slice):
        return value[place]
    if not -len(value) <= place < len(value):
        raise JsonPathError(f"it has {len(value)} elements, and none at {place}")
    return [value[place]]
