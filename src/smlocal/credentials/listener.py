"""Listens at the credentials address: at the service's port 80 if this user may, else at a port of the job's own."""

import errno
import socket
import time
from collections.abc import Callable

from smlocal.credentials.address import ADDRESS
from smlocal.credentials.http_messages import MAX_HEAD_BYTES, SERVER
from smlocal.errors import CredentialsUnreachableError
from smlocal.quick_dataclass import dataclass

PORT = 80
"""The port that clients use with AWS_CONTAINER_CREDENTIALS_RELATIVE_URI. The jobs of one user share it."""
_BACKLOG = 128
_ADDRESS_SECONDS = 5.0
_CHECK_SECONDS = 10.0
_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EADDRINUSE}


@dataclass(frozen=True, kw_only=True, slots=True)
class Listener:
    """A listening socket."""

    socket: socket.socket
    port: int

    @property
    def shared(self) -> bool:
        """True if all jobs of one user share the port."""
        return self.port == PORT


def open_listener(port: int, make_address: Callable[[], None]) -> Listener | None:
    """Listen at a port (0: any); None if port 80 is not allowed or taken. `make_address` is called if it is missing."""
    try:
        bound = _bind(port, make_address)
    except OSError as error:
        if port == PORT and error.errno in _NOT_ALLOWED:
            return None
        raise unreachable(error.strerror or str(error)) from error
    return Listener(socket=bound, port=bound.getsockname()[1])


def has_address() -> bool:
    """True if this machine has the address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
        try:
            trial.bind((ADDRESS, 0))
        except OSError as error:
            return error.errno != errno.EADDRNOTAVAIL
        return True


def is_reached(listener: Listener) -> bool:
    """Send a request, and check that smlocal answers: this job, or another one that shares the port.

    Port 80 of this address may be redirected to another program, for example to the agent of Amazon ECS.
    """
    try:
        with socket.create_connection((ADDRESS, listener.port), timeout=_CHECK_SECONDS) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: smlocal\r\n\r\n")
            with client.makefile("rb") as answer:
                return f"\r\nServer: {SERVER}\r\n".encode() in answer.read(MAX_HEAD_BYTES)
    except OSError:
        return False


def _bind(port: int, make_address: Callable[[], None]) -> socket.socket:
    until = time.monotonic() + _ADDRESS_SECONDS
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
            make_address()  # another job has just removed it
            time.sleep(0.02)
        else:
            return bound


def unreachable(why: str) -> CredentialsUnreachableError:
    """The error if this machine cannot serve credentials."""
    return CredentialsUnreachableError(
        f"this machine cannot listen at {ADDRESS}, the address of the containers' credentials",
        details=(why,),
        remedy=(
            "This needs a Docker engine on this machine, not rootless and not in a virtual machine.",
            "Or run without credentials: --credentials none",
        ),
    )
