"""Metrics in the output of containers: their patterns and values."""

import math
import re
import struct
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex

SEARCH_SECONDS = 0.1
"""The search of a line that takes longer is cancelled."""
MAX_SLOW_LINES = 3
"""After this many cancelled searches the metric is disabled."""
MAX_LINE = 1 << 18
"""Characters of a line that are searched: the former size limit of an event in CloudWatch Logs."""

_SINGLE = struct.Struct("<f")


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricPattern:
    """A metric, and the regular expression that finds its values in the logs."""

    name: str
    regex: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricValue:
    """One value of a metric, with the host and the time of its line."""

    name: str
    value: float
    at: float | None
    """None if it is not known."""
    host: str


def single_precision(value: float) -> float | None:
    """The nearest float32, which is what the service keeps. None for NaN, infinity and too large numbers."""
    try:
        (single,) = _SINGLE.unpack(_SINGLE.pack(value))
    except OverflowError:
        return None
    return float(single) if math.isfinite(single) else None


def number_in(text: str | None) -> float | None:
    """The value in the match of a group. None if it is not a number, as in `cat=dog`: the service silently drops it."""
    if text is None or "_" in text or not text.isascii():
        return None
    try:
        return single_precision(float(text))
    except ValueError:
        return None


def is_later(one: float | None, other: float | None) -> bool:
    """True if a value of time `one`, found after a value of time `other`, is the later of the two."""
    return other is None or (one is not None and one >= other)


def final_metric_data(last: Iterable[MetricValue]) -> list[dict[str, Any]]:
    """The last value of each metric, as it is stored."""
    return [
        {"MetricName": each.name, "Value": each.value} | ({} if each.at is None else {"Timestamp": int(each.at)})
        for each in last
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class TriedDefinition:
    """The result of a definition for a line of `plan --try-line`."""

    name: str
    value: float | None = None
    text: str | None = None
    """The match of the first group. None if there is none."""
    found: bool = False
    slow: bool = False
    """True if the search was cancelled."""

    @property
    def verdict(self) -> str:
        """The result in words."""
        if self.slow:
            return f"stopped after {SEARCH_SECONDS * 1000:g} ms: a line that takes longer has no value"
        if self.value is not None:
            return str(self.value)
        if not self.found:
            return "no match"
        matched = "nothing" if self.text is None else f"'{self.text}'"
        return f"no value: the first group matched {matched}, which is not a number"


# It seems to be Java's, so two spellings that only Java has are translated: `(?<name>…)` and `\z`.

_NAMED: Final = "(?<"
_TOKEN: Final = regex(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?<(?=[A-Za-z])", re.DOTALL)
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
