r"""Regexes of metrics, compiled by Python's `re`. The service's dialect is not published.

It seems to be Java's, so two spellings that only Java has are translated: `(?<name>…)` and `\z`.
"""

import re
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

_NAMED: Final = "(?<"
_TOKEN: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?<(?=[A-Za-z])", re.DOTALL)
"""An escape, a set, or the beginning of a named group in Java's spelling."""
_DELETE: Final = 0x7F


def compile_regex(regex: str) -> re.Pattern[str]:
    """Compile it; raises `re.error` if it is not valid, or too large for Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(_TOKEN.sub(_translated, regex))
        except (OverflowError, RecursionError) as error:
            raise re.error(str(error)) from error


def regex_problem(regex: str) -> str | None:
    """Why a metric cannot have this regex. None if it can."""
    try:
        pattern = compile_regex(regex)
    except re.error as error:
        return f"'{regex}' is not a valid regular expression: {error}"
    if not pattern.groups:
        return f"'{regex}' has no group: the first group matches the value of a metric, as in loss=([0-9.]+)"
    return None


def required_text(pattern: re.Pattern[str]) -> str:
    """The longest text that is in every match; empty if none is known."""
    return max(_required(pattern), key=len)


def wanted_controls(regex: str) -> tuple[str, ...]:
    r"""The control characters, such as `\t` or `\x1b`, in every match. The service escapes them: it never matches."""
    try:
        needed = "".join(_required(compile_regex(regex)))
    except re.error:
        return ()
    found = (character for character in needed if ord(character) < ord(" ") or ord(character) == _DELETE)
    return tuple(dict.fromkeys(repr(character)[1:-1] for character in found))


def _required(pattern: re.Pattern[str]) -> list[str]:
    """Texts that are in every match, in this order."""
    runs = [""]
    try:
        _collect(parse(pattern), pattern.flags, runs)
    except Exception:  # noqa: BLE001 - the parser is private to Python: without it every line is searched
        return [""]
    return runs


def _translated(token: re.Match[str]) -> str:
    return {_NAMED: "(?P<", r"\z": r"\Z"}.get(token[0], token[0])


def parse(pattern: re.Pattern[str]) -> Any:
    """The operations of a regex with their arguments, by Python's own parser, which is private to Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("re._parser").parse(pattern.pattern, 0)


def _collect(parsed: Any, flags: int, runs: list[str]) -> None:
    """Append to the last run the text that must follow it, and begin another one where other text may follow."""
    for operation, argument in parsed:
        name = str(operation)
        if name == "LITERAL" and not (flags & re.IGNORECASE and chr(argument).lower() != chr(argument).upper()):
            runs[-1] += chr(argument)
        elif name == "SUBPATTERN":
            _, added, removed, inner = argument
            _collect(inner, (flags | added) & ~removed, runs)
        elif name in {"AT", "ASSERT", "ASSERT_NOT"}:
            continue  # matches no text
        else:
            runs.append("")
            for inner in _at_least_once(name, argument):
                _collect(inner, flags, runs)
                runs.append("")


def _at_least_once(name: str, argument: Any) -> Iterator[Any]:
    """The part of an operation that is in every match."""
    if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"} and argument[0] >= 1:
        yield argument[2]
    elif name == "ATOMIC_GROUP":
        yield argument


# Whether the first group of a regex, whose match is the value of a metric, can match a number at all.

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
