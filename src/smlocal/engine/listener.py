"""Who listens at a socket of this machine, seen without a question: Podman takes most of a second to say what it is."""

import os
import socket
import struct

from smlocal.engine.endpoint import Endpoint

_WHO = struct.Struct("3i")
"""What the kernel tells of a socket's other end: process, user, group."""
_OWN = frozenset({"podman", "systemd"})
"""Podman itself, or the user's systemd that starts it. One in a virtual machine has another program listen for it."""


def is_roots(endpoint: Endpoint) -> bool:
    """True for a socket that root has made, which a virtual machine's or a rootless engine's never is."""
    try:
        return endpoint.local and os.stat(endpoint.path).st_uid == 0
    except OSError:
        return False


def is_rootless_podman(endpoint: Endpoint) -> bool:
    """True where a user of this machine runs the Podman that answers at this socket."""
    if not endpoint.local or not hasattr(socket, "SO_PEERCRED"):
        return False
    try:
        with endpoint.connect() as connection:
            process, user, _ = _WHO.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _WHO.size))
        if user == 0 or process == 0:
            return False
        with open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().rstrip("\n") in _OWN
    except OSError:
        return False
