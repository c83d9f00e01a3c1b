"""Passes a connection to the supervisor that it is for.

Supervisors of one user share port 80, and the kernel gives each connection to any of them. Each supervisor also listens
at an abstract Unix socket whose name is made from the path of its credentials.
"""

import os
import socket
import struct
from contextlib import suppress
from hashlib import sha256

from smlocal.credentials.http_messages import MAX_HEAD_BYTES

_PEER = struct.Struct("3i")
"""Process, user and group of the other end."""
_TIMEOUT_SECONDS = 2.0


def listen_for_handovers(path: str) -> socket.socket:
    """The socket that takes connections for this path."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        listener.bind(_address(path))
        listener.listen(64)
    except BaseException:
        listener.close()
        raise
    return listener


def hand_over(path: str, connection: socket.socket, head: bytes) -> bool:
    """Pass on a connection and the request head that was read from it; False if no supervisor has this path."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
        other.settimeout(_TIMEOUT_SECONDS)
        try:
            other.connect(_address(path))
            if not _is_same_user(other):
                return False
            socket.send_fds(other, [head], [connection.fileno()])
        except OSError:
            return False
    return True


def receive(listener: socket.socket) -> tuple[socket.socket, bytes] | None:
    """A connection that was handed over, with its request head; None if another user sent something."""
    with suppress(OSError):
        other, _ = listener.accept()
        with other:
            other.settimeout(_TIMEOUT_SECONDS)
            if not _is_same_user(other):
                return None
            head, descriptors, _, _ = socket.recv_fds(other, MAX_HEAD_BYTES, 1)
            if descriptors:
                return socket.socket(fileno=descriptors[0]), head
    return None


def _address(path: str) -> bytes:
    # Everyone can list these names, and the path is secret.
    return b"\0smlocal-credentials-" + sha256(path.encode()).hexdigest()[:40].encode()


def _is_same_user(other: socket.socket) -> bool:
    peer = other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    return int(_PEER.unpack(peer)[1]) == os.geteuid()
