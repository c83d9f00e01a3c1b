"""One line of an augmented manifest, taken apart."""

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from smlocal.channels.pipe.lines import LONGEST

_SPACE = re.compile(r"[ \t\r\n]*")


class BadLineError(Exception):
    """Completes the sentence `line 7 …`."""


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def values_of(line: bytes, names: Sequence[str]) -> list[tuple[Any, str]]:
    """What the line has under each name, as a value and as the text that is sent.

    The text of a string is the string, of everything else its JSON exactly as it stands in the line.
    """
    if len(line) > LONGEST:
        raise BadLineError(f"is longer than {LONGEST} bytes")
    try:
        members = _members(line.decode())
    except (ValueError, RecursionError) as error:
        raise BadLineError("is not valid JSON") from error
    if members is None:
        raise BadLineError("is not a JSON object")
    for name in names:
        if name not in members:
            raise BadLineError(f"has no attribute '{name}'")
    return [members[name] for name in names]


def _members(text: str) -> dict[str, tuple[Any, str]] | None:
    """Every member; None for JSON that is no object. Of a name that comes twice the last counts, as usual."""
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        _end(text, _DECODER.raw_decode(text, at)[1])
        return None
    members: dict[str, tuple[Any, str]] = {}
    at = _skip(text, at + 1)
    if text[at : at + 1] == "}":
        _end(text, at + 1)
        return members
    while True:
        if text[at : at + 1] != '"':
            raise ValueError(text)
        name, at = _DECODER.raw_decode(text, at)
        start = _after(text, at, ":")
        value, at = _DECODER.raw_decode(text, start)
        own = value if isinstance(value, str) else text[start:at]
        own.encode()  # half a surrogate pair can be written in JSON and nowhere else
        members[name] = value, own
        at = _skip(text, at)
        if text[at : at + 1] == "}":
            _end(text, at + 1)
            return members
        at = _after(text, at, ",")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _after(text: str, at: int, mark: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] != mark:
        raise ValueError(text)
    return _skip(text, at + 1)


def _end(text: str, at: int) -> None:
    if _skip(text, at) != len(text):
        raise ValueError(text)
