"""Mistakes in the ranges of a tuning job. Pure."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.jobs.contract.validation.violation import Path, Violation, spoken
from smlocal.sagemaker.tuning import facts

_NUMBERS: Final = ("IntegerParameterRanges", "ContinuousParameterRanges")
_CATEGORIES: Final = "CategoricalParameterRanges"


def broken_ranges(
    ranges: Mapping[str, Any] | None, at: Path, *, statics: Mapping[str, str], grid: bool
) -> Iterator[Violation]:
    """All of them. `ranges` have the types of the model; `at` is where they are."""
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
