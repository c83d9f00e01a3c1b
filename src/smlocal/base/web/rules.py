"""Rules of every address that this machine opens: who is answered, how much may come, and how long that may take.

A page of another site must not reach a server, under whatever name it is looked up.
"""

import socket
from collections.abc import Callable, Mapping
from typing import Final

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
