"""HTTP/1.1 messages, taken from bytes as they come. What could be read in two ways is refused."""

import re
from typing import Final

from smlocal.base.web.rules import MOST_HEAD, MOST_HEADERS

_MOST_LINE: Final = 4096
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_VERSIONS: Final = frozenset({"HTTP/1.0", "HTTP/1.1"})
_SINGLE: Final = frozenset({"authorization", "content-length", "host", "transfer-encoding"})
"""Headers that may not come twice with different values."""
_SPACE: Final = " \t"
_SIZE, _AFTER, _TRAILER = range(3)
"""Lines of a body in chunks: the length of a chunk, the empty one after its bytes, and those after the last chunk."""
_CHUNK_LENGTH: Final = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?")


class MessageError(Exception):
    """The bytes are not an HTTP message, or it ends too early."""


class MessageHead:
    """The first line of a message, and its headers."""

    __slots__ = ("first", "headers")

    def __init__(self, first: tuple[str, str, str], headers: dict[str, str]) -> None:
        """`headers`: by the name in small letters; of one that comes several times, the last."""
        self.first, self.headers = first, headers

    @property
    def length(self) -> int | None:
        """Bytes of the body; None if they are not stated."""
        stated = self.headers.get("content-length")
        if stated is None:
            return None
        if not _LENGTH.fullmatch(stated):
            raise MessageError("Content-Length is not a number")
        return int(stated)

    @property
    def chunked(self) -> bool:
        """True if the body comes in chunks that say how long they are."""
        stated = self.headers.get("transfer-encoding")
        if stated is not None and stated.lower() != "chunked":
            raise MessageError("its Transfer-Encoding is not chunked")
        return stated is not None

    def check_request(self) -> None:
        """`MessageError` if another program could take it for another request."""
        if self.first[2] not in _VERSIONS:
            raise MessageError("it is neither HTTP/1.0 nor HTTP/1.1")
        if self.chunked and "content-length" in self.headers:
            raise MessageError("it has both a Content-Length and a Transfer-Encoding")
        if self.chunked and self.first[2] == "HTTP/1.0":
            raise MessageError("HTTP/1.0 has no Transfer-Encoding")

    def keeps_open(self, version: str) -> bool:
        """True if the connection can be used again."""
        said = self.headers.get("connection", "").lower()
        return "close" not in said and (version == "HTTP/1.1" or "keep-alive" in said)


def take_head(data: bytes) -> tuple[MessageHead | None, bytes]:
    """The head that the bytes begin with, and what follows; None if it is not complete."""
    end = data.find(b"\r\n\r\n")
    if end > MOST_HEAD or (end < 0 and len(data) > MOST_HEAD):
        raise MessageError(f"its head has more than {MOST_HEAD} bytes")
    return (None, data) if end < 0 else (_head(data[:end].decode("latin-1")), data[end + 4 :])


def _head(text: str) -> MessageHead:
    first, *lines = text.split("\r\n")
    if len(lines) > MOST_HEADERS:
        raise MessageError(f"it has more than {MOST_HEADERS} headers")
    if not len(lines) == text.count("\n") == text.count("\r") or "\0" in text:
        raise MessageError("it has a line that is not a header")
    words = first.split(" ", 2)
    if len(words) < 2:  # noqa: PLR2004 - a status line may have no phrase
        raise MessageError("its first line is not HTTP")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name[0] in _SPACE or name[-1] in _SPACE:
            raise MessageError("it has a line that is not a header")
        name, value = name.lower(), value.strip(_SPACE)
        if name in _SINGLE and name in headers and (headers[name] != value or name == "transfer-encoding"):
            raise MessageError(f"it has two headers {name}")
        headers[name] = value
    return MessageHead((words[0], words[1], words[2] if len(words) > 2 else ""), headers)  # noqa: PLR2004


class Body:
    """The body of a message."""

    __slots__ = ("_buffer", "_left", "_lines", "chunked", "ended", "length")

    def __init__(self, head: MessageHead, *, to_the_end: bool, empty: bool = False) -> None:
        """`to_the_end`: without a stated length it lasts until the connection ends. `empty`: whatever the head says."""
        self.chunked = head.chunked and not empty
        self.length = None if self.chunked else head.length
        """Bytes, if they are stated."""
        if empty or (self.length is None and not self.chunked and not to_the_end):
            self.length = 0
        self.ended = self.length == 0
        """True if all of it was taken."""
        self._left = self.length or 0
        self._buffer = b""
        self._lines = _SIZE
        """What the next line of a chunked body is."""

    def take(self, data: bytes) -> tuple[bytes, bytes]:
        """What the bytes have of the content, and what follows the body."""
        if self.ended:
            return b"", data
        if self.chunked:
            return self._chunks(data)
        if self.length is None:
            return data, b""
        left = self._left
        if len(data) < left:
            self._left = left - len(data)
            return data, b""
        self.ended, self._left = True, 0
        return (data, b"") if len(data) == left else (data[:left], data[left:])

    def end(self) -> None:
        """The connection has ended."""
        if self.length is None and not self.chunked:
            self.ended = True
        if not self.ended:
            raise MessageError("its body ends too early")

    def _chunks(self, data: bytes) -> tuple[bytes, bytes]:
        data, found, at = self._buffer + data, [], 0
        self._buffer = b""
        while at < len(data):
            if self._left:
                piece = data[at : at + self._left]
                self._left -= len(piece)
                at += len(piece)
                found.append(piece)
                continue
            end = data.find(b"\r\n", at)
            if (end if end >= 0 else len(data)) - at > _MOST_LINE:
                raise MessageError("it has a line that is too long")
            if end < 0:
                self._buffer = data[at:]
                break
            self._line(data[at:end])
            at = end + 2
            if self.ended:
                return b"".join(found), data[at:]
        return (found[0] if len(found) == 1 else b"".join(found)), b""

    def _line(self, line: bytes) -> None:
        if self._lines == _SIZE:
            stated = _CHUNK_LENGTH.fullmatch(line)
            if stated is None:
                raise MessageError("a chunk does not state its length")
            self._left = int(stated[1], 16)
            self._lines = _AFTER if self._left else _TRAILER
        elif self._lines == _AFTER:
            if line:
                raise MessageError("a chunk is longer than it states")
            self._lines = _SIZE
        elif b"\n" in line or b"\r" in line:
            raise MessageError("it has a line that does not end")
        else:
            self.ended = not line
