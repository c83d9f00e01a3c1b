"""Parses the JSON of a manifest piece by piece: it may have a million entries."""

import json
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from smlocal.base.regex import regex

_LONGEST = 1 << 20
"""Characters of one element; a key has at most 1,024 bytes."""
_SPACE = " \t\n\r"
_PLAIN = regex(r'[ \t\n\r]*,[ \t\n\r]*"([^"\\\x00-\x1f]*)"')
"""Almost every entry: a comma and a string without escapes."""
_DECODER = json.JSONDecoder()


class ManifestError(Exception):
    """The mistake in a manifest; the text follows its name."""


def manifest_strings(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the prefix, then every entry of a manifest; `ManifestError` if it is not valid."""
    text = _Text(_decoded(pieces))
    if text.peek() != "[":
        raise ManifestError("is not a JSON array" if text.peek() else "is empty")
    text.at += 1
    yield _prefix(text)
    number = 1
    while True:
        number += 1
        plain = _PLAIN.match(text.window, text.at)
        if plain is not None:
            text.at = plain.end()
            yield plain[1]
            continue
        if text.peek() != ",":
            break
        text.at += 1
        if text.peek() != '"':
            raise ManifestError(f"has no string as its element {number}")
        entry = text.value(number)
        if not entry.isascii():
            _check_utf8(entry, number)
        yield entry
    if text.peek() != "]":
        raise ManifestError(f"is not valid JSON: there is no comma or bracket after its element {number - 1}")
    text.at += 1
    if text.peek():
        raise ManifestError("is not valid JSON: there is something after its array")


@dataclass(slots=True)
class _Text:
    """A window on a text that is read in pieces."""

    pieces: Iterator[str]
    window: str = ""
    at: int = 0

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            while self.at < len(self.window):
                if self.window[self.at] not in _SPACE:
                    return self.window[self.at]
                self.at += 1
            if not self._widen():
                return ""

    def value(self, number: int) -> Any:
        """Parse the string or object at the current position."""
        while True:
            try:
                value, self.at = _DECODER.raw_decode(self.window, self.at)
            except (json.JSONDecodeError, RecursionError) as error:
                if len(self.window) - self.at > _LONGEST or not self._widen():
                    words = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
                    raise ManifestError(f"is not valid JSON: {words} in its element {number}") from error
            else:
                return value

    def _widen(self) -> bool:
        piece = next(self.pieces, None)
        if piece is None:
            return False
        self.window = self.window[self.at :] + piece
        self.at = 0
        return True


def _decoded(pieces: Iterable[bytes]) -> Iterator[str]:
    decoder = getincrementaldecoder("utf-8-sig")()
    try:
        for piece in pieces:
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise ManifestError("is not valid JSON: it is not UTF-8") from error


def _prefix(text: _Text) -> str:
    first = text.value(1) if text.peek() == "{" else None
    prefix = first.get("prefix") if isinstance(first, dict) else None
    if not isinstance(prefix, str) or not prefix:
        raise ManifestError('has no prefix: its first element must be {"prefix": "s3://bucket/some/prefix/"}')
    _check_utf8(prefix, 1)
    return prefix


def _check_utf8(entry: str, number: int) -> None:
    try:
        entry.encode()
    except UnicodeEncodeError as error:  # half a surrogate pair, which JSON can contain and a key cannot
        raise ManifestError(f"has invalid Unicode text as its element {number}") from error
