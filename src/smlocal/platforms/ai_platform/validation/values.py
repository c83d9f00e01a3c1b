"""Simple values as the services read them from JSON."""

import re
from collections.abc import Sequence
from typing import Any, Final

from smlocal.contract.validation.member_path import kind_of
from smlocal.contract.validation.suggestions import closest

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
