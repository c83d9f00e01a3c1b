"""Whether the first group of a regex, which is the value of a metric, can ever match a number."""

from collections.abc import Iterator
from typing import Any, Final

from smlocal.contract.metrics.regex import compile_regex, parsed

_DIGITS: Final = range(ord("0"), ord("9") + 1)
_WITHOUT_DIGITS: Final = {"CATEGORY_NOT_DIGIT", "CATEGORY_SPACE", "CATEGORY_NOT_WORD"}
_NO_TEXT: Final = {"AT", "ASSERT", "ASSERT_NOT"}


def never_a_number(regex: str) -> bool:
    """True when no digit can be in what the first group matches; where that is not certain, False."""
    try:
        group = _first_group(parsed(compile_regex(regex)))
    except Exception:  # noqa: BLE001 - it cannot be compiled, or the parser, which is private to Python, has changed
        return False
    return group is not None and not _may_hold_digit(group)


def _first_group(found: Any) -> Any | None:
    for _, argument in found:
        for inner, number in _inside(argument):
            if number == 1:
                return inner
            below = _first_group(inner)
            if below is not None:
                return below
    return None


def _inside(argument: Any, number: int | None = None) -> Iterator[tuple[Any, int | None]]:
    """The parsed pieces within what an operation works on; with the number of the group that a piece is."""
    if isinstance(argument, tuple | list):
        own = argument[0] if isinstance(argument, tuple) and argument and isinstance(argument[0], int) else None
        for each in argument:
            yield from _inside(each, own)
    elif hasattr(argument, "getwidth"):
        yield argument, number


def _may_hold_digit(found: Any) -> bool:
    for operation, argument in found:
        name = str(operation)
        if name in _NO_TEXT:
            continue
        if name == "LITERAL":
            may = argument in _DIGITS
        elif name == "IN":
            may = any(_in_set(argument, digit) for digit in _DIGITS)
        else:
            pieces = [piece for piece, _ in _inside(argument)]
            # What has no pieces matches anything, or what another group has matched.
            may = not pieces or any(_may_hold_digit(piece) for piece in pieces)
        if may:
            return True
    return False


def _in_set(items: Any, digit: int) -> bool:
    negated = any(str(operation) == "NEGATE" for operation, _ in items)
    for operation, argument in items:
        match str(operation):
            case "LITERAL":
                found = argument == digit
            case "RANGE":
                found = argument[0] <= digit <= argument[1]
            case "CATEGORY":
                found = str(argument) not in _WITHOUT_DIGITS
            case _:
                found = False
        if found:
            return not negated
    return negated
