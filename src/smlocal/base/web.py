"""What every address that this machine opens has in common: HTTP messages, who is answered, and how much is held."""

import re
import socket
from collections import deque
from collections.abc import Callable, Mapping
from mmap import mmap
from typing import Final

SMALL: Final = 64 << 10
"""Bytes of a body that has no part in the limit."""


class Share:
    """A part of the bytes that may be held together."""

    __slots__ = ("_among", "go_on", "granted", "size")

    def __init__(self, among: "HeldBytes", size: int, go_on: Callable[[], None]) -> None:
        """`go_on` is called when it is granted, unless that is at once."""
        self._among, self.size, self.go_on = among, size, go_on
        self.granted = False

    def give_back(self) -> None:
        """It is not needed any more, or not waited for."""
        self._among.give_back(self)

    def shrink(self, size: int) -> None:
        """So much is needed of it."""
        self._among.shrink(self, size)


class HeldBytes:
    """The bytes that are held together. Who wants more than are free waits, in the order of arrival."""

    def __init__(self, most: int) -> None:
        """A single one may have more than `most`, if there is no other."""
        self._most = most
        self.held = 0
        self._waiting: deque[Share] = deque()

    def take(self, size: int, go_on: Callable[[], None]) -> Share:
        """Granted at once, or later."""
        share = Share(self, size, go_on)
        self._waiting.append(share)
        self._grant(at_once=share)
        return share

    def give_back(self, share: Share) -> None:
        """Others may have its bytes."""
        if share.granted:
            share.granted = False
            self.held -= share.size
        elif share in self._waiting:
            self._waiting.remove(share)
        self._grant()

    def shrink(self, share: Share, size: int) -> None:
        """Others may have the rest of its bytes."""
        if share.granted and size < share.size:
            self.held -= share.size - size
            share.size = size
            self._grant()

    def take_now(self, size: int) -> Share | None:
        """Granted at once; None if others have the bytes, or wait for them."""
        if self._waiting or self.held + size > self._most:
            return None
        return self.take(size, lambda: None)

    def _grant(self, at_once: Share | None = None) -> None:
        while self._waiting and (not self.held or self.held + self._waiting[0].size <= self._most):
            share = self._waiting.popleft()
            share.granted = True
            self.held += share.size
            if share is not at_once:
                share.go_on()


class BodyContent:
    """The bytes of one body, as they come.

    A large one has memory of its own, which is the system's again when it is dropped. The allocator would keep it.
    """

    __slots__ = ("_map", "_pieces", "size")

    def __init__(self) -> None:
        self.size = 0
        self._pieces: list[bytes] = []
        self._map: mmap | None = None

    def reserve(self, most: int) -> None:
        """It may have up to so many bytes. Memory that is not used costs nothing."""
        made = mmap(-1, max(1, most))
        for piece in self._pieces:
            made.write(piece)
        self._map, self._pieces = made, []

    @property
    def reserved(self) -> bool:
        """True if it has memory of its own."""
        return self._map is not None

    def add(self, piece: bytes) -> None:
        """The next bytes."""
        self.size += len(piece)
        if self._map is None:
            self._pieces.append(piece)
        else:
            self._map.write(piece)

    def whole(self) -> bytes | memoryview:
        """All of it."""
        if self._map is not None:
            return memoryview(self._map)[: self.size]
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)


HEAD_SECONDS: Final = 20.0
"""For the head of a request."""
BODY_SECONDS: Final = 30.0
"""For the body of a call or an invocation."""
IDLE_SECONDS: Final = 75.0
"""For a connection that carries no request."""
MOST_HEAD: Final = 64 << 10
"""Bytes of the first line and the headers of a request."""
MOST_HEADERS: Final = 200
"""The most headers of one request: clients of AWS send about twenty, and S3 has room for 2 KiB of metadata."""
MOST_CONNECTIONS: Final = 1000
"""Open at the same time; others are closed at once."""
MOST_HELD: Final = 96 << 20
"""Bytes of the bodies of all requests that are held together; others wait for their turn."""
WAIT_SECONDS: Final = 120.0
"""For that turn."""
READ_SECONDS: Final = 60.0
"""For a client to read the rest of its last answer."""

# A page of another site must not reach a server, under whatever name it is looked up.
FOREIGN_PAGE: Final = "smlocal does not answer pages of other sites"
_LOCAL: Final = frozenset({"localhost", "host.docker.internal", "host.containers.internal"})


def is_of_this_machine(name: str) -> bool:
    """True for a name that no other site can give to this machine, and for an address.

    A name is needed to trick a browser; an address was typed.
    """
    return name in _LOCAL or name.endswith(".localhost") or _is_address(name)


def host_name(stated: str) -> str:
    """The name or address in a header Host, without the port and the brackets of IPv6; empty if it is neither."""
    if stated.startswith("["):
        name, bracket, rest = stated[1:].partition("]")
        valid = bracket and (not rest or rest[0] == ":")
        return name.lower() if valid else ""
    name = stated.partition(":")[0].lower()
    return "" if "@" in name or "/" in name else name


def refusal(method: str, headers: Mapping[str, str], *, knows: Callable[[str], bool], hint: str = "") -> str | None:
    """Why a request is not answered; None if it is. `headers`: by the name in small letters.

    `knows` is asked for names that are not of this machine. `hint`: how such a name is allowed.
    """
    stated = headers.get("host", "")
    host = host_name(stated)
    if not is_of_this_machine(host) and not knows(host):
        return f"smlocal does not answer to the name {host!r}{hint}"
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != stated:
        return FOREIGN_PAGE
    from_here = headers.get("sec-fetch-site", "none") in {"none", "same-origin"}
    if not from_here and not _opens_a_page(method, headers):
        return FOREIGN_PAGE
    return None


def _opens_a_page(method: str, headers: Mapping[str, str]) -> bool:
    """True for a link that a person follows. It changes nothing, and the other site does not see the answer."""
    opened = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return opened and method in {"GET", "HEAD"}


def _is_address(name: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, name)
        except (OSError, ValueError):
            continue
        return True
    return False


# Headers that keep a browser from doing anything with an answer but show it.
# Everything at one address is one origin for a browser: what a container or a client has written must never run in it.

ALWAYS: Final[Mapping[str, str]] = {
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
FOR_DATA: Final[Mapping[str, str]] = {
    **ALWAYS,
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}
"""For what clients, jobs and containers have written: nothing in it is ever executed."""


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
        """`headers`: by lower-case names, with the last value of repeated headers."""
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


PROXY_VARIABLES: Final = ("https_proxy", "HTTPS_PROXY")
"""In the order in which programs look."""


def proxy_remedy(environment: Mapping[str, str]) -> tuple[str, ...]:
    """What to look at if a service does not answer and the user has set a proxy, whose password is not shown."""
    for name in PROXY_VARIABLES:
        if value := environment.get(name):
            scheme, between, rest = value.rpartition("://")
            return (f"Does the proxy answer?  {name} is {scheme}{between}{rest.rpartition('@')[2]}",)
    return ()
