"""Whether the first group of a regex, whose match is the value of a metric, can match a number at all."""

from collections.abc import Iterator
from typing import Any, Final

from smlocal.contract.metrics.regex import compile_regex, parse

_DIGITS: Final = range(ord("0"), ord("9") + 1)
_WITHOUT_DIGITS: Final = {"CATEGORY_NOT_DIGIT", "CATEGORY_SPACE", "CATEGORY_NOT_WORD"}
_ASSERTIONS: Final = {"AT", "ASSERT", "ASSERT_NOT"}
_OF_PARTS: Final = {"SUBPATTERN", "BRANCH", "MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT", "ATOMIC_GROUP"}
"""Operations that match only what their parts match."""


def never_a_number(regex: str) -> bool:
    """True if no digit can be in the match of the first group. False where that is not certain."""
    try:
        operations = _operations(parse(compile_regex(regex)))
        first = (argument for name, argument in operations if name == "SUBPATTERN" and argument[0] == 1)
        for group in first:
            return not any(_matches_digit(*operation) for operation in _operations(group[-1]))
    except Exception:  # noqa: BLE001 - it cannot be compiled, or the parser, which is private to Python, has changed
        return False
    return False


def _operations(parsed: Any) -> Iterator[tuple[str, Any]]:
    """All operations, with those inside of them. Assertions match no text."""
    for operation, argument in parsed:
        if str(operation) not in _ASSERTIONS:
            yield str(operation), argument
            for part in _parts(argument):
                yield from _operations(part)


def _parts(argument: Any) -> Iterator[Any]:
    if hasattr(argument, "getwidth"):
        yield argument
    elif isinstance(argument, tuple | list):
        for each in argument:
            yield from _parts(each)


def _matches_digit(name: str, argument: Any) -> bool:
    match name:
        case "LITERAL":
            return argument in _DIGITS
        case "IN":
            return any(_set_has(argument, digit) for digit in _DIGITS)
        case _:
            return name not in _OF_PARTS


def _set_has(items: Any, digit: int) -> bool:
    negated = found = False
    for operation, argument in items:
        match str(operation):
            case "NEGATE":
                negated = True
            case "LITERAL":
                found |= argument == digit
            case "RANGE":
                found |= argument[0] <= digit <= argument[1]
            case "CATEGORY":
                found |= str(argument) not in _WITHOUT_DIGITS
    return found is not negated
