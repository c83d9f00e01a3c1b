"""One line of an augmented manifest, taken apart."""

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
    raise ValueError(f"{constant} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def values_of(line: bytes, names: Sequence[str]) -> list[tuple[Any, str]]:
    """What the line has under each name, as a value and as the text that is sent.

    The text of a string is the string, of everything else its JSON exactly as it stands in the line.
    """
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
    """The text of a value that JSON writes in one way only; taking lines apart by hand costs four times as much."""
    if isinstance(value, str):
        value.encode()  # half a surrogate pair can be written in JSON and nowhere else
        return value
    if value is None or isinstance(value, bool):
        return _CONSTANTS[value]
    return str(value) if isinstance(value, int) and value else None


def _written(text: str) -> dict[str, str]:
    """Every member of a valid object as it is written, but for strings. Of a name that comes twice the last counts."""
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
    """Where the white space ends."""
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
