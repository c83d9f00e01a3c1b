"""Ranges of hyperparameters, points in them, and the mistakes of a request about them. Pure.

A point is the text of each tuned hyperparameter.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final, Literal

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.tuning import facts
from smlocal.terms.validation.violation import Path, Violation, spoken

_NUMBERS: Final = ("IntegerParameterRanges", "ContinuousParameterRanges")
_CATEGORIES: Final = "CategoricalParameterRanges"
Point = dict[str, str]
Kind = Literal["Integer", "Continuous", "Categorical"]
_DECADES: Final = 1000.0
"""`Auto` is logarithmic for a positive range whose ends differ by this factor, else linear: ours."""
_MOST_REPEATS: Final = 10_000
"""Random points that repeat an earlier one, before the rest is looked for in order."""
_MOST_LISTED: Final = 100_000
"""A space with more points is not listed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """The values of one hyperparameter."""

    name: str
    kind: Kind
    low: float = 0.0
    high: float = 0.0
    scaling: str = "Auto"
    values: tuple[str, ...] = ()
    """Of a categorical one."""

    @property
    def scale(self) -> str:
        """The scaling, if it is Auto the one that is chosen."""
        if self.scaling != "Auto":
            return self.scaling
        return "Logarithmic" if self.low > 0 and self.high / self.low >= _DECADES else "Linear"

    @property
    def size(self) -> int | None:
        """How many values it has; None if they cannot be counted."""
        if self.kind == "Categorical":
            return len(self.values)
        return int(self.high) - int(self.low) + 1 if self.kind == "Integer" else None

    def at(self, share: float) -> str:
        """The value at this share of the range, from 0 up to and without 1, by its scale."""
        if self.kind == "Categorical":
            return self.values[int(share * len(self.values))]
        if self.kind == "Integer":
            low, high = int(self.low), int(self.high)
            if self.scale == "Logarithmic":
                return str(min(high, int(math.exp(math.log(low) + share * (math.log(high + 1) - math.log(low))))))
            return str(low + int(share * (high - low + 1)))
        return text_of(self.clamped(self._scaled(share)))

    def _scaled(self, share: float) -> float:
        if self.scale == "Logarithmic":
            low, high = math.log(self.low), math.log(self.high)
            return math.exp(low + share * (high - low))
        if self.scale == "ReverseLogarithmic":
            low, high = math.log(1 - self.low), math.log(1 - self.high)
            return 1 - math.exp(low + share * (high - low))
        return self.low + share * (self.high - self.low)

    def share_of(self, text: str) -> float:
        """The place of a value in the range, from 0 to 1, by its scale. Values outside are at the nearer end."""
        if self.kind == "Categorical":
            return self.values.index(text) / max(1, len(self.values) - 1) if text in self.values else 0.0
        value = self.clamped(float(text))
        low, high = self.low, self.high
        if self.scale == "Logarithmic":
            low, value, high = math.log(low), math.log(value), math.log(high)
        elif self.scale == "ReverseLogarithmic":
            low, value, high = -math.log(1 - low), -math.log(1 - value), -math.log(1 - high)
        return (value - low) / (high - low) if high > low else 0.5

    def clamped(self, value: float) -> float:
        """Rounding may leave the range by a little."""
        return min(max(value, self.low), self.high)

    def holds(self, text: str) -> bool:
        """True if the value is in the range."""
        if self.kind == "Categorical":
            return text in self.values
        try:
            return self.low <= float(text) <= self.high
        except ValueError:  # a category of a parent
            return False

    def nth(self, index: int) -> str:
        """A value of a range that can be counted."""
        return self.values[index] if self.kind == "Categorical" else str(int(self.low) + index)


def text_of(value: float) -> str:
    """A real number as text: the shortest that means the same number."""
    return repr(float(value))


def ranges_of(document: Mapping[str, Any] | None) -> tuple[Range, ...]:
    """From a valid `ParameterRanges`."""
    given = document or {}
    kinds: tuple[tuple[Kind, str], ...] = (
        ("Integer", "IntegerParameterRanges"),
        ("Continuous", "ContinuousParameterRanges"),
    )
    found = [
        Range(
            name=each["Name"],
            kind=kind,
            low=float(each["MinValue"]),
            high=float(each["MaxValue"]),
            scaling=each.get("ScalingType") or "Auto",
        )
        for kind, member in kinds
        for each in given.get(member) or ()
    ]
    found += [
        Range(name=each["Name"], kind="Categorical", values=tuple(each["Values"]))
        for each in given.get("CategoricalParameterRanges") or ()
    ]
    return tuple(found)


def combinations(ranges: Sequence[Range]) -> int | None:
    """How many points there are; None if they cannot be counted."""
    sizes = [each.size for each in ranges]
    return None if None in sizes else math.prod(size for size in sizes if size is not None)


def nth_point(ranges: Sequence[Range], index: int) -> Point:
    """A point of a space that can be counted; the last range changes fastest."""
    point: Point = {}
    for each in reversed(ranges):
        index, value = divmod(index, each.size or 1)
        point[each.name] = each.nth(value)
    return {each.name: point[each.name] for each in ranges}


def grid(ranges: Sequence[Range]) -> Iterator[Point]:
    """Every combination, once."""
    for index in range(combinations(ranges) or 0):
        yield nth_point(ranges, index)


def random_points(ranges: Sequence[Range], seed: int, *, taken: Sequence[Point] = ()) -> Iterator[Point]:
    """Points in an order that only the seed decides. None comes twice, and none of those taken."""
    chance = Random(seed)  # noqa: S311 - no secret
    # Points of parents may be outside of these ranges; they do not belong to this space.
    seen = {_key(point) for point in taken if all(each.holds(point[each.name]) for each in ranges)}
    count, repeats = combinations(ranges), 0
    while repeats < _MOST_REPEATS:
        point = {each.name: each.at(chance.random()) for each in ranges}
        if (key := _key(point)) in seen:
            repeats += 1
            continue
        seen.add(key)
        repeats = 0
        yield point
        if count is not None and len(seen) >= count:
            return
    if count is not None and count <= _MOST_LISTED:
        yield from (point for point in grid(ranges) if _key(point) not in seen)


def _key(point: Point) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(point.items()))


def broken_ranges(
    ranges: Mapping[str, Any] | None, at: Path, *, statics: Mapping[str, str], grid: bool
) -> Iterator[Violation]:
    """All mistakes. `ranges` have the types of the model; `at` is where they are."""
    given = ranges or {}
    found = [
        ((*at, kind, index), kind, each)
        for kind in (*_NUMBERS, _CATEGORIES)
        for index, each in enumerate(given.get(kind) or ())
    ]
    if not found:
        yield _says(at, "a tuning job needs a range of at least one hyperparameter")
        return
    if len(found) > facts.MOST_RANGES:
        yield _says(at, f"there are {len(found)} ranges, and at most {facts.MOST_RANGES}")
    names = Counter(each["Name"] for _, _, each in found)
    for path, kind, each in found:
        name = each["Name"]
        if not name:
            yield _says((*path, "Name"), "it is empty")
        if names[name] > 1:
            yield _says((*path, "Name"), f"'{name}' has several ranges")
            names[name] = 0  # said once
        if name in statics:
            yield _says((*path, "Name"), f"'{name}' is a static hyperparameter too; remove one of the two")
        if grid and kind != _CATEGORIES:
            yield _says(path, f"'{name}' is not categorical: a grid has categorical hyperparameters only")
        yield from _categories(path, each) if kind == _CATEGORIES else _numbers(path, each, whole=kind == _NUMBERS[0])


def _categories(path: Path, given: Mapping[str, Any]) -> Iterator[Violation]:
    repeated = [value for value, count in Counter(given["Values"]).items() if count > 1]
    if repeated:
        yield _says((*path, "Values"), f"'{repeated[0]}' is there more than once")


def _numbers(path: Path, given: Mapping[str, Any], *, whole: bool) -> Iterator[Violation]:
    ends = {}
    for member in ("MinValue", "MaxValue"):
        text = given[member]
        number = _number(text, whole=whole)
        if number is None:
            yield _says((*path, member), f"'{text}' is not {'an integer' if whole else 'a finite number'}")
        else:
            ends[member] = number
    if len(ends) < len(("MinValue", "MaxValue")):
        return
    low, high = ends["MinValue"], ends["MaxValue"]
    if low >= high:
        why = "the range is empty" if low == high else "the range is reversed"
        yield _says(path, f"{why}: MinValue is {given['MinValue']}, MaxValue is {given['MaxValue']}")
        return
    scaling = given.get("ScalingType")
    if scaling == "Logarithmic" and low <= 0:
        yield _says((*path, "ScalingType"), "Logarithmic needs values greater than 0")
    if scaling == "ReverseLogarithmic" and whole:
        yield _says((*path, "ScalingType"), "ReverseLogarithmic is for continuous hyperparameters")
    elif scaling == "ReverseLogarithmic" and not (low >= 0 and high < 1):
        yield _says((*path, "ScalingType"), "ReverseLogarithmic needs values from 0 up to and without 1")


def _number(text: str, *, whole: bool) -> float | None:
    try:
        number = int(text) if whole else float(text)
    except ValueError:
        return None
    return float(number) if math.isfinite(number) and "_" not in text and text.isascii() else None


def _says(path: Path, text: str) -> Violation:
    return Violation(path=path, text=f"{spoken(path)}: {text}")
