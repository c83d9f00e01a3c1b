"""Sockets at the credentials address: the service's own port where this user may have it, else one of the job's own."""

import errno
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from smlocal.credentials.address import ADDRESS
from smlocal.credentials.answers import SERVER
from smlocal.errors import CredentialsUnreachableError

PORT = 80
"""Where clients look that are told a path only. The jobs of one user share it."""
_BACKLOG = 128
_COMING_SECONDS = 5.0
_CHECK_SECONDS = 3.0
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


def open_listener(port: int | None, appear: Callable[[], None]) -> Listener:
    """Listen at this port, or at the best there is; `appear` has the address made where it is not there."""
    for wanted in (PORT, 0) if port is None else (port,):
        try:
            bound = _bind(wanted, appear)
        except OSError as error:
            if error.errno in _NOT_OURS and wanted == PORT and port is None:
                continue
            raise _unreachable(error.strerror or str(error)) from error
        listener = Listener(socket=bound, port=bound.getsockname()[1])
        if _is_reached(listener):
            return listener
        bound.close()  # port 80 of this address is led elsewhere, as by the agent of Amazon ECS
    raise _unreachable("what is sent there goes to another program")


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


def _is_reached(listener: Listener) -> bool:
    """Ask ourselves: what answers must be us, or another job of ours that shares the port."""
    try:
        with socket.create_connection((ADDRESS, listener.port), timeout=_CHECK_SECONDS) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            ready, _, _ = select.select([listener.socket, client], [], [], _CHECK_SECONDS)
            if listener.socket in ready:
                listener.socket.accept()[0].close()
                return True
            return f"Server: {SERVER}\r\n".encode() in client.recv(4096)
    except OSError:
        return False


def _unreachable(why: str) -> CredentialsUnreachableError:
    return CredentialsUnreachableError(
        f"this machine cannot listen at {ADDRESS}, where containers look for credentials",
        details=(why,),
        remedy=(
            "It needs a Docker engine of this very machine, neither rootless nor in a machine of its own.",
            "Or run without credentials: --credentials none",
        ),
    )
