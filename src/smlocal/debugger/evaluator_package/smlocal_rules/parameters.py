"""Parameters of rules. The API passes strings; the declaration of a rule says how each is read."""

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from smlocal_rules.failures import ParameterError, suggestion

Reader = Callable[[str], Any]
"""Reads the text of a parameter. It raises ValueError with the expected form."""


@dataclass(frozen=True)
class Patterns:
    """Regular expressions for names of tensors; a name matches if one of them is found anywhere in it."""

    documented: tuple[str, ...]
    pytorch: tuple[str, ...] = ()
    """Used at a step whose tensors match none of the documented ones: PyTorch names its tensors in another way."""

    def matching(self, names: list[str]) -> list[str]:
        """Those of the names that match, in their order."""
        return _matching(self.documented, names) or _matching(self.pytorch, names)

    def __str__(self) -> str:
        """As a parameter would be written."""
        return ",".join(self.documented)


def _matching(patterns: tuple[str, ...], names: list[str]) -> list[str]:
    return [name for name in names if any(re.search(pattern, name) for pattern in patterns)]


def parameter(default: Any, read: Reader, text: str) -> Any:
    """A parameter of a rule: a field of its class. The page of the rules is made from the text."""
    return field(default=default, metadata={"read": read, "text": text})


def read_parameters(rule: type[Any], given: Mapping[str, str]) -> Any:
    """The rule with the given parameters."""
    name = rule.__name__
    known = parameters_of(rule)
    for unknown in given.keys() - known.keys():
        there = ", ".join(known) or "none"
        text = f"{name} has no parameter {unknown}.{suggestion(unknown, known)} It has: {there}."
        raise ParameterError(text)
    values = {}
    for key, text in given.items():
        try:
            values[key] = known[key].metadata["read"](text.strip())
        except ValueError as error:
            raise ParameterError(f"{name}: {key} is {text!r}, and must be {error}.") from None
    return rule(**values)


def parameters_of(rule: type[Any]) -> dict[str, "dataclasses.Field[Any]"]:
    """The parameters of a rule, by name."""
    return {each.name: each for each in dataclasses.fields(rule) if each.init}


def number(text: str) -> float:
    """A float that is not NaN."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise ValueError("a number")
    return value


def whole_number(text: str) -> int:
    """`10`, and `10.0` too, of at least 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value.is_integer() or value < 0:
        raise ValueError("a whole number")
    return int(value)


def truth(text: str) -> bool:
    """`True` or `False`."""
    if text.lower() not in {"true", "false"}:
        raise ValueError("True or False")
    return text.lower() == "true"


def words(text: str) -> tuple[str, ...]:
    """Parts between commas, without the spaces around them; quotes and brackets of a list are taken off."""
    parts = (part.strip().strip("'\"") for part in text.strip("[]").split(","))
    return tuple(part for part in parts if part)


def numbers(text: str) -> tuple[float, ...]:
    """Numbers between commas."""
    try:
        return tuple(number(part) for part in words(text))
    except ValueError:
        raise ValueError("numbers with commas between them") from None


def patterns(text: str) -> Patterns:
    """Regular expressions between commas."""
    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    for part in parts:
        try:
            re.compile(part)
        except re.error as error:
            raise ValueError(f"regular expressions with commas between them ({part!r}: {error})") from None
    return Patterns(parts)


def optional(read: Reader) -> Reader:
    """An empty text and `None` are the same as no parameter."""
    return lambda text: None if text in {"", "None"} else read(text)


def one_of(*choices: str) -> Reader:
    """One of these words, in capitals or not."""

    def read(text: str) -> str:
        for choice in choices:
            if text.lower() == choice.lower():
                return choice
        raise ValueError("one of " + ", ".join(choices))

    return read


def some_of(*choices: str) -> Reader:
    """Some of these words, with commas between them."""

    def read(text: str) -> tuple[str, ...]:
        found = words(text)
        if not found or not set(found) <= set(choices):
            raise ValueError("some of " + ", ".join(choices) + ", with commas between them")
        return found

    return read
