"""Passes connections to a port of this container on to a socket: it has no network, and boto3 needs a port."""

import os
import socket
import time
from contextlib import suppress
from threading import Thread
from urllib.parse import urlsplit

from smlocal_rules.failures import RuleError

_PIECE = 1 << 16
_BETWEEN_TRIES = 0.2
_FIRST_SECONDS = 60.0
_LATER_SECONDS = 600.0
"""If smlocal was killed, its endpoint comes back with `smlocal recover`."""


class EndpointError(RuleError):
    """The endpoint for the actions of the rule cannot be reached."""


def forward(path: str) -> None:
    """Listen at the port in AWS_ENDPOINT_URL for the socket at this path."""
    try:
        _connect(path, _FIRST_SECONDS).close()
    except OSError as error:
        text = f"the actions of the rule need the socket of smlocal, which this container cannot reach ({error})."
        raise EndpointError(text) from None
    address = urlsplit(os.environ["AWS_ENDPOINT_URL"])
    listener = socket.create_server((str(address.hostname), int(address.port or 0)))
    Thread(target=_accept, args=(listener, path), name="endpoint", daemon=True).start()


def _accept(listener: socket.socket, path: str) -> None:
    while True:
        connection, _ = listener.accept()
        Thread(target=_serve, args=(connection, path), name="endpoint", daemon=True).start()


def _serve(client: socket.socket, path: str) -> None:
    with client, suppress(OSError), _connect(path, _LATER_SECONDS) as server:
        back = Thread(target=_copy, args=(server, client), name="endpoint", daemon=True)
        back.start()
        _copy(client, server)
        back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(_PIECE):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _connect(path: str, seconds: float) -> socket.socket:
    until = time.monotonic() + seconds
    while True:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            server.connect(path)
        except OSError:
            server.close()
            if time.monotonic() > until:
                raise
            time.sleep(_BETWEEN_TRIES)
        else:
            return server
