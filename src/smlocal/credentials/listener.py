"""Sockets at the credentials address: the service's own port where this user may have it, else one of the job's own."""

import errno
import socket
import time
from collections.abc import Callable

from smlocal.credentials.address import ADDRESS
from smlocal.credentials.answers import MOST_BYTES, SERVER
from smlocal.errors import CredentialsUnreachableError
from smlocal.quick_dataclass import dataclass

PORT = 80
"""Where clients look that are told a path only. The jobs of one user share it."""
_BACKLOG = 128
_COMING_SECONDS = 5.0
_CHECK_SECONDS = 10.0
_NOT_OURS = {errno.EACCES, errno.EPERM, errno.EADDRINUSE}


@dataclass(frozen=True, kw_only=True, slots=True)
class Listener:
    """A socket that is listened at."""

    socket: socket.socket
    port: int

    @property
    def shared(self) -> bool:
        """True for the port that all jobs of one user share."""
        return self.port == PORT


def open_listener(port: int, appear: Callable[[], None]) -> Listener | None:
    """Listen at a port, any with 0; None when the shared one is not for us. `appear` has the address made."""
    try:
        bound = _bind(port, appear)
    except OSError as error:
        if port == PORT and error.errno in _NOT_OURS:
            return None
        raise unreachable(error.strerror or str(error)) from error
    return Listener(socket=bound, port=bound.getsockname()[1])


def is_here() -> bool:
    """True while this machine has the address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
        try:
            trial.bind((ADDRESS, 0))
        except OSError as error:
            return error.errno != errno.EADDRNOTAVAIL
        return True


def is_reached(listener: Listener) -> bool:
    """Ask, now that we answer: who does must be us, or another job of ours that shares the port.

    Port 80 of this address may be led elsewhere, as by the agent of Amazon ECS.
    """
    try:
        with socket.create_connection((ADDRESS, listener.port), timeout=_CHECK_SECONDS) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: smlocal\r\n\r\n")
            with client.makefile("rb") as answer:
                return f"\r\nServer: {SERVER}\r\n".encode() in answer.read(MOST_BYTES)
    except OSError:
        return False


def _bind(port: int, appear: Callable[[], None]) -> socket.socket:
    until = time.monotonic() + _COMING_SECONDS
    while True:
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if port == PORT:
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            bound.bind((ADDRESS, port))
            bound.listen(_BACKLOG)
        except OSError as error:
            bound.close()
            if error.errno != errno.EADDRNOTAVAIL or time.monotonic() > until:
                raise
            appear()  # the last of the others has just taken it away
            time.sleep(0.02)
        else:
            return bound


def unreachable(why: str) -> CredentialsUnreachableError:
    """What is said when there is no way."""
    return CredentialsUnreachableError(
        f"this machine cannot listen at {ADDRESS}, the address of the containers' credentials",
        details=(why,),
        remedy=(
            "This needs a Docker engine on this machine, not rootless and not in a virtual machine.",
            "Or run without credentials: --credentials none",
        ),
    )
