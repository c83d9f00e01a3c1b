"""The attributes of one line of an augmented manifest."""

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from smlocal.channels.pipe.lines import LONGEST

_CONSTANTS = {None: "null", False: "false", True: "true"}
_SPACE = re.compile(r"[ \t\r\n]*")


class BadLineError(Exception):
    """Completes the sentence `line 7 …`."""


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def values_of(line: bytes, names: Sequence[str]) -> list[tuple[Any, str]]:
    """The value of each attribute, and the text that is sent: a string itself, other values as the JSON in the line."""
    if len(line) > LONGEST:
        raise BadLineError(f"is longer than {LONGEST} bytes")
    try:
        text = line.decode()
        members = _DECODER.decode(text)
        if not isinstance(members, dict):
            raise BadLineError("is not a JSON object")
        for name in names:
            if name not in members:
                raise BadLineError(f"has no attribute '{name}'")
        texts = [_own_text(members[name]) for name in names]
        if None in texts:
            written = _written(text)
            texts = [written[name] for name in names]
    except (ValueError, RecursionError) as error:
        raise BadLineError("is not valid JSON") from error
    return [(members[name], own or "") for name, own in zip(names, texts, strict=True)]


def _own_text(value: object) -> str | None:
    """The text of a value that JSON can write in one way only: `_written` would take four times as long."""
    if isinstance(value, str):
        value.encode()  # JSON can contain half a surrogate pair, which is not valid text
        return value
    if value is None or isinstance(value, bool):
        return _CONSTANTS[value]
    return str(value) if isinstance(value, int) and value else None


def _written(text: str) -> dict[str, str]:
    """Every member of a valid object as written, strings as their value. Of a repeated name the last one counts."""
    found: dict[str, str] = {}
    at = _skip(text, _skip(text, 0) + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        value, at = _DECODER.raw_decode(text, start)
        found[name] = value if isinstance(value, str) else text[start:at]
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    """The position after white space."""
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
