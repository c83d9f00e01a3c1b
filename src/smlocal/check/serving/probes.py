"""Questions to a container that serves, each with a limit of time."""

import http.client
import json
import os
import select
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import Final
from urllib.parse import urlsplit

from smlocal.check.serving.interface import AnswerSeen, ListenAddress, PingSeen
from smlocal.engine.interface import Engine
from smlocal.errors import EngineError, MachineNotReadyError

_PING_SECONDS: Final = 2.0
_ANSWER_SECONDS: Final = 70.0
_CONNECTIONS: Final = 5
"""Opened at once. With the one of the request they fit into the queue of Python's own servers, which holds six."""
_CONNECT_SECONDS: Final = 2.0
"""More than the second after which the kernel asks again."""
_RETRANSMITTED: Final = slice(100, 104)
"""`tcpi_total_retrans` in the kernel's `struct tcp_info`."""
_LOOK_SECONDS: Final = 10.0
_SHOWN: Final = 200
_ROW: Final = 4
_LISTENS: Final = "0A"
_DNS_OF_THE_ENGINE: Final = "0B00007F"
"""127.0.0.11, at which Docker answers inside each container."""
RUBBISH: Final[tuple[tuple[str, bytes], ...]] = (
    ("application/json", b'{"smlocal": [1, \x00\xff\xfe'),
    ("application/x-smlocal-rubbish", bytes(range(128, 256))),
)
"""JSON that is broken, and a type that nobody has heard of."""
_COMPILED: Final = (".pyc", "__pycache__")

Address = tuple[str, int]


def ping(address: Address) -> PingSeen:
    """As the service does: GET /ping, with 2 s for the answer."""
    began = time.monotonic()
    connection = http.client.HTTPConnection(*address, timeout=_PING_SECONDS)
    try:
        with closing(connection):
            connection.request("GET", "/ping")
            status = connection.getresponse().status
        return PingSeen(status, time.monotonic() - began, "")
    except TimeoutError:
        trouble = f"no answer to /ping within {_PING_SECONDS:g} s"
    except ConnectionRefusedError:
        trouble = f"nothing listens on port {address[1]}"
    except (OSError, http.client.HTTPException) as error:
        trouble = f"the connection for /ping broke: {str(error) or type(error).__name__}"
    return PingSeen(0, time.monotonic() - began, trouble)


def ping_beside_another(address: Address, content_type: str) -> PingSeen:
    """Ping while the server waits for the rest of another request."""
    try:
        with _partial_request(address, content_type):
            return ping(address)
    except OSError as error:
        return PingSeen(0, 0.0, f"the connection broke: {error}")


@contextmanager
def _partial_request(address: Address, content_type: str) -> Iterator[None]:
    """While the server waits for the rest of it; `OSError` if it cannot be sent."""
    lines = ("POST /invocations HTTP/1.1", "Host: localhost", f"Content-Type: {content_type}", "Content-Length: 1024")
    with socket.create_connection(address, timeout=_PING_SECONDS) as other:
        other.sendall("\r\n".join((*lines, "", "1,")).encode())
        yield


def late_connections(address: Address, content_type: str) -> tuple[int, int] | None:
    """Open several while the server waits for the rest of a request: how many are late, and how many there are.

    The kernel drops what has no place in the queue of the server, and asks again after a second. So nothing that this
    machine is busy with is taken for the server. None: the system does not tell.
    """
    if not hasattr(socket, "TCP_INFO"):
        return None
    with ExitStack() as stack:
        try:
            stack.enter_context(_partial_request(address, content_type))
        except OSError:
            return None
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        opened = [stack.enter_context(socket.socket(family)) for _ in range(_CONNECTIONS)]
        for each in opened:
            each.setblocking(False)
            each.connect_ex(address)
        deadline = time.monotonic() + _CONNECT_SECONDS
        waiting = opened
        while waiting and (left := deadline - time.monotonic()) > 0:
            _, ready, _ = select.select([], waiting, [], left)
            waiting = [each for each in waiting if each not in ready]
        return len(waiting) + sum(_was_asked_again(each) for each in opened if each not in waiting), _CONNECTIONS


def _was_asked_again(connection: socket.socket) -> bool:
    """Whether a packet was sent again: nothing else was sent than that which opens the connection."""
    told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RETRANSMITTED.stop)
    return any(told[_RETRANSMITTED])


def ask(url: str, body: bytes, content_type: str, *, key: Mapping[str, str]) -> AnswerSeen:
    """One invocation through the endpoint. `key`: the headers that its address demands."""
    parts = urlsplit(url)
    asked = f"{shown(body)} ({content_type})"
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_ANSWER_SECONDS)
    try:
        with closing(connection):
            connection.request("POST", parts.path, body=body, headers={"Content-Type": content_type, **key})
            answer = connection.getresponse()
            content = answer.read()
    except (OSError, http.client.HTTPException) as error:
        return AnswerSeen(asked, 0, str(error) or type(error).__name__)
    if answer.status == 200:  # noqa: PLR2004 - HTTP
        return AnswerSeen(asked, 200, shown(content))
    try:
        said: Mapping[str, object] = json.loads(content)
    except ValueError:
        said = {}
    status = said.get("OriginalStatusCode")
    text = str(said.get("OriginalMessage") or said.get("Message") or content.decode(errors="replace"))
    return AnswerSeen(asked, status if isinstance(status, int) else 0, text[:_SHOWN])


def shown(content: bytes) -> str:
    """The beginning of a body, in one line."""
    try:
        text = " ".join(content[: _SHOWN * 4].decode().split())
    except UnicodeDecodeError:
        return f"{len(content)} bytes"
    return f"{text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}"


def listeners(engine: Engine, container: str) -> tuple[ListenAddress, ...] | None:
    """Where the container listens, by its own `cat`; None if that is not known."""
    text = _output(engine, container, ("cat", "/proc/net/tcp", "/proc/net/tcp6"))
    return None if "local_address" not in text else tuple(dict.fromkeys(_listeners(text)))


def _listeners(text: str) -> Iterator[ListenAddress]:
    for line in text.splitlines():
        words = line.split()
        if len(words) < _ROW or words[3] != _LISTENS or words[1].startswith(_DNS_OF_THE_ENGINE):
            continue
        host, _, port = words[1].partition(":")
        loopback = host.endswith("7F") and (len(host) == 8 or "FFFF" in host)  # noqa: PLR2004 - IPv4, or in IPv6
        yield ListenAddress(loopback=loopback or host == "0" * 24 + "01000000", port=int(port, 16))


def _output(engine: Engine, container: str, command: tuple[str, ...]) -> str:
    """What a program in the container prints; nothing if it cannot be started."""
    found = b""
    deadline = time.monotonic() + _LOOK_SECONDS
    try:
        with closing(engine.execute(container, command, terminal=False)) as streams:
            while (left := deadline - time.monotonic()) > 0:
                select.select([streams], [], [], left)
                pieces = streams.read()
                if pieces is None:
                    break
                found += b"".join(piece for stream, piece in pieces if stream == 1)
    except (EngineError, MachineNotReadyError, OSError):
        return ""
    return found.decode(errors="replace")


def written_since(folder: str, began: float) -> tuple[str, ...]:
    """Paths below a folder that were changed after a time; files that Python compiles do not count."""
    found = []
    for place, folders, files in os.walk(folder):
        compiled = any(name in _COMPILED for name in folders) or any(name.endswith(_COMPILED) for name in files)
        folders[:] = [name for name in folders if name not in _COMPILED]
        here = [name for name in files if not name.endswith(_COMPILED) and _is_later(os.path.join(place, name), began)]
        if not here and not compiled and _is_later(place, began):
            here = ["."]  # something was removed, or a folder was made
        found += [os.path.normpath(os.path.join(os.path.relpath(place, folder), name)) for name in here]
    return tuple(sorted(found))


def _is_later(path: str, began: float) -> bool:
    try:
        return os.lstat(path).st_mtime > began
    except OSError:
        return False
