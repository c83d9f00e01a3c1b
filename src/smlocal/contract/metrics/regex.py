r"""Regexes of MetricDefinitions: read as Python's, which stand for the service's; its dialect is not published.

It is Java's by all appearance, so two spellings of Java that Python does not know are translated: `(?<name>…)`, `\z`.
"""

import re
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

_NAMED: Final = "(?<"
_TOKEN: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?<(?=[A-Za-z])", re.DOTALL)
"""An escape, a set, or the beginning of a named group of Java's."""
_DELETE: Final = 0x7F


def compile_regex(regex: str) -> re.Pattern[str]:
    """Raise `re.error` for what is no regular expression, and for one that is too much for Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(_TOKEN.sub(_pythons, regex))
        except (OverflowError, RecursionError) as error:
            raise re.error(str(error)) from error


def regex_trouble(regex: str) -> str | None:
    """Why no metric can be taken with this regex; None when one can."""
    try:
        pattern = compile_regex(regex)
    except re.error as error:
        return f"'{regex}' is not a valid regular expression: {error}"
    if not pattern.groups:
        return f"'{regex}' has no group: the value of a metric is what the first group matches, as in loss=([0-9.]+)"
    return None


def required_text(pattern: re.Pattern[str]) -> str:
    """The longest text that every match has in it; empty where none is known."""
    return max(_required(pattern), key=len)


def wanted_controls(regex: str) -> tuple[str, ...]:
    r"""The control characters, as `\t` or `\x1b`, that a match needs; the service escapes them, so it finds none."""
    try:
        needed = "".join(_required(compile_regex(regex)))
    except re.error:
        return ()
    found = (character for character in needed if ord(character) < ord(" ") or ord(character) == _DELETE)
    return tuple(dict.fromkeys(repr(character)[1:-1] for character in found))


def _required(pattern: re.Pattern[str]) -> list[str]:
    """Pieces of text that every match has in it, in their order."""
    runs = [""]
    try:
        _collect(parsed(pattern), pattern.flags, runs)
    except Exception:  # noqa: BLE001 - the parser is private to Python: without it every line is searched
        return [""]
    return runs


def _pythons(token: re.Match[str]) -> str:
    return {_NAMED: "(?P<", r"\z": r"\Z"}.get(token[0], token[0])


def parsed(pattern: re.Pattern[str]) -> Any:
    """The regex as Python's own parser sees it: operations with what they work on. It is private to Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("re._parser").parse(pattern.pattern, 0)


def _collect(found: Any, flags: int, runs: list[str]) -> None:
    """Append to the last run what must follow it, and begin another wherever anything may."""
    for operation, argument in found:
        name = str(operation)
        if name == "LITERAL" and not (flags & re.IGNORECASE and chr(argument).lower() != chr(argument).upper()):
            runs[-1] += chr(argument)
        elif name == "SUBPATTERN":
            _, added, removed, inner = argument
            _collect(inner, (flags | added) & ~removed, runs)
        elif name in {"AT", "ASSERT", "ASSERT_NOT"}:
            continue  # takes no room
        else:
            runs.append("")
            for inner in _at_least_once(name, argument):
                _collect(inner, flags, runs)
                runs.append("")


def _at_least_once(name: str, argument: Any) -> Iterator[Any]:
    """What else of an operation every match goes through."""
    if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"} and argument[0] >= 1:
        yield argument[2]
    elif name == "ATOMIC_GROUP":
        yield argument
