"""Supervisors of one user share a port: a connection that came to the wrong one is handed to the right one.

The kernel shares out connections as it likes. Each supervisor has a second listener, known by the path it answers to.
"""

import os
import socket
import struct
from contextlib import suppress
from hashlib import sha256

from smlocal.credentials.answers import MOST_BYTES

_CREDENTIALS = struct.Struct("3i")
_PATIENCE_SECONDS = 2.0


def open_door(path: str) -> socket.socket:
    """Where connections for this path are handed in."""
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        door.bind(_name(path))
        door.listen(64)
    except BaseException:
        door.close()
        raise
    return door


def hand_over(path: str, connection: socket.socket, head: bytes) -> bool:
    """Give a connection to whoever answers to this path; False when nobody does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
        other.settimeout(_PATIENCE_SECONDS)
        try:
            other.connect(_name(path))
            if not _is_mine(other):
                return False
            socket.send_fds(other, [head], [connection.fileno()])
        except OSError:
            return False
    return True


def take_in(door: socket.socket) -> tuple[socket.socket, bytes] | None:
    """A connection that was handed in, and what had been read of it; None for what comes from anybody else."""
    with suppress(OSError):
        other, _ = door.accept()
        with other:
            other.settimeout(_PATIENCE_SECONDS)
            if not _is_mine(other):
                return None
            head, descriptors, _, _ = socket.recv_fds(other, MOST_BYTES, 1)
            if descriptors:
                return socket.socket(fileno=descriptors[0]), head
    return None


def _name(path: str) -> bytes:
    return b"\0smlocal-credentials-" + sha256(path.encode()).hexdigest()[:40].encode()


def _is_mine(other: socket.socket) -> bool:
    """True for a process of this user."""
    raw = other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(raw)[1]) == os.geteuid()
