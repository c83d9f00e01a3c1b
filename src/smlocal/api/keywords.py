"""Checks the keywords of a call, before any of them is used."""

import os
from collections.abc import Collection, Iterator, Mapping
from numbers import Number
from typing import Any

from smlocal.api.overrides import Overrides
from smlocal.errors import KeywordInvalidError
from smlocal.jobfile.option import Form, Option, Values
from smlocal.jobfile.settings import OPTIONS
from smlocal.terms.validation.violation import closest

RUN_SWITCHES = ("detach", "replace", "show", "strict")


def check_keywords(given: Overrides, *, others: Collection[str]) -> None:
    """Refuse unknown keywords, as Python does, and values of the wrong type.

    `others`: the other keywords of the call.
    """
    known = sorted({*OPTIONS, *others})
    for keyword in given:
        if keyword not in known:
            raise TypeError(_unknown(keyword, known))
    for keyword, value in given.items():
        if keyword in OPTIONS and value is not None:
            for error in _wrong_value(OPTIONS[keyword], value):
                raise error


def _unknown(keyword: str, known: Collection[str]) -> str:
    meant = closest(keyword, known)
    suggestion = f"did you mean {meant!r}? There are" if meant else "there are"
    return f"there is no keyword {keyword!r}; {suggestion} {', '.join(known)}"


def _wrong_value(option: Option, value: Any) -> Iterator[KeywordInvalidError]:
    """Text and numbers are checked with the request. A string such as "no" would count as a switch that is set."""
    keyword = option.keyword
    match option.form:
        case Form.SWITCH if not isinstance(value, bool):
            yield _wrong(keyword, "a boolean", value, f"{keyword}=True")
        case Form.PATH if not _is_path(value):
            yield _wrong(keyword, Values.PATH.value, value, option.example)
        case Form.LIST | Form.WORDS:
            yield from _wrong_list(option, value)
        case Form.MAP:
            yield from _wrong_map(option, value)


def _wrong_list(option: Option, given: Any) -> Iterator[KeywordInvalidError]:
    if not isinstance(given, list | tuple):
        yield _wrong(option.keyword, "a list", given, option.example)
        return
    for item in given:
        if not isinstance(item, str):
            yield _wrong(f"an item of {option.keyword}", "a string", item, option.example)


def _wrong_map(option: Option, given: Any) -> Iterator[KeywordInvalidError]:
    if not isinstance(given, Mapping):
        yield _wrong(option.keyword, "a dict", given, option.example)
        return
    for key, value in given.items():
        if not isinstance(key, str):
            yield _wrong(f"a key of {option.keyword}", "a string", key, option.example)
        if not _is_valid(option.values, value):
            yield _wrong(f"{option.keyword}[{key!r}]", option.values.value, value, option.example)


def _is_valid(values: Values, value: Any) -> bool:
    match values:
        case Values.TEXT:
            return isinstance(value, str)
        case Values.PLAIN:
            return isinstance(value, str | Number)  # a bool is a Number, and so are the numbers of numpy
        case Values.PATH:
            return _is_path(value)
        case Values.ANY:
            return True


def _is_path(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, os.PathLike) and isinstance(os.fspath(value), str))


def _wrong(what: str, kind: str, value: Any, example: str) -> KeywordInvalidError:
    """The value itself may be secret, so its type is shown."""
    found = "None" if value is None else f"of the type {type(value).__name__}"
    return KeywordInvalidError(f"{what} must be {kind}, and is {found}", remedy=[f"Write it like {example}."])
