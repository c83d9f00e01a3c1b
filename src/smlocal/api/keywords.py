"""Checks the keywords of a call, before any of them is used."""

import os
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from smlocal.api.overrides import Overrides

if TYPE_CHECKING:
    from smlocal.errors import KeywordInvalidError

RUN_SWITCHES = ("detach", "replace", "show", "strict")
_PATH = "a path (str or os.PathLike)"
_MAPS: Mapping[str, tuple[str, str]] = {
    "channels": (_PATH, 'channels={"training": "./data"}'),
    "environment": ("a string", 'environment={"NAME": "value"}'),
    "members": ("any", 'members={"ResourceConfig.InstanceCount": 2}'),
    "hyperparameters": ("a string, a number or a boolean", 'hyperparameters={"epochs": 3}'),
    "sources": (_PATH, 'sources={"s3://bucket/prefix": "./data"}'),
}
"""What the values of a dict must be, and an example."""
_SWITCHES = ("allow_cpu", "enforce_limits", "no_rules", "publish")
"""Of `Overrides`. A string such as "no" would count as True."""
_PATHS = {"code": 'code="./src"', "output": 'output="./out"'}


def check_keywords(given: Overrides, *, others: Collection[str]) -> None:
    """Refuse unknown keywords, as Python does, and values of the wrong type. `others`: what else the call takes."""
    known = sorted({*Overrides.__annotations__, *others})
    for keyword in given:
        if keyword not in known:
            raise TypeError(_unknown(keyword, known))
    for error in _wrong_values(given):
        raise error


def _unknown(keyword: str, known: Collection[str]) -> str:
    from smlocal.contract.validation.suggestions import closest

    meant = closest(keyword, known)
    suggestion = f"did you mean {meant!r}? There are" if meant else "there are"
    return f"there is no keyword {keyword!r}; {suggestion} {', '.join(known)}"


def _wrong_values(given: Mapping[str, Any]) -> "Iterator[KeywordInvalidError]":
    for keyword in _SWITCHES:
        if not isinstance(given.get(keyword, False), bool | None):
            yield _wrong(keyword, "a boolean", given[keyword], f"{keyword}=True")
    for keyword, example in _PATHS.items():
        if given.get(keyword) is not None and not _is_path(given[keyword]):
            yield _wrong(keyword, _PATH, given[keyword], example)
    yield from _wrong_list("engines", given.get("engines"), 'engines=["ssh://HOST", "default"]')
    yield from _wrong_list("entrypoint", given.get("entrypoint"), 'entrypoint=["python", "/opt/ml/code/train.py"]')
    yield from _wrong_maps(given)


def _wrong_list(keyword: str, given: Any, example: str) -> "Iterator[KeywordInvalidError]":
    if not isinstance(given, list | tuple | None):
        yield _wrong(keyword, "a list", given, example)
        return
    for item in given or ():
        if not isinstance(item, str):
            yield _wrong(f"an item of {keyword}", "a string", item, example)


def _wrong_maps(given: Mapping[str, Any]) -> "Iterator[KeywordInvalidError]":
    for keyword, (kind, example) in _MAPS.items():
        values = given.get(keyword)
        if values is None:
            continue
        if not isinstance(values, Mapping):
            yield _wrong(keyword, "a dict", values, example)
            continue
        for key, value in values.items():
            if not isinstance(key, str):
                yield _wrong(f"a key of {keyword}", "a string", key, example)
            if not _is_valid(keyword, value):
                yield _wrong(f"{keyword}[{key!r}]", kind, value, example)


def _is_valid(keyword: str, value: Any) -> bool:
    from numbers import Number

    if keyword == "members":
        return True  # it is checked with the request
    if keyword == "hyperparameters":
        return isinstance(value, str | Number)  # a bool is a Number, and so are the numbers of numpy
    return isinstance(value, str) if keyword == "environment" else _is_path(value)


def _is_path(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, os.PathLike) and isinstance(os.fspath(value), str))


def _wrong(what: str, kind: str, value: Any, example: str) -> "KeywordInvalidError":
    """The value itself may be secret, so its type is shown."""
    from smlocal.errors import KeywordInvalidError

    found = "None" if value is None else f"of the type {type(value).__name__}"
    return KeywordInvalidError(f"{what} must be {kind}, and is {found}", remedy=[f"Write it like {example}."])
