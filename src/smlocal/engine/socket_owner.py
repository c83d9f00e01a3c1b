"""Finds out who made a socket, without a request: Podman takes most of a second to report what it is."""

import os
import socket
import struct

from smlocal.engine.endpoint import Endpoint

_WHO = struct.Struct("3i")
"""Process, user and group of the other end of a socket."""
_OWN = frozenset({"podman", "systemd"})
"""Podman itself, or the user's systemd, which starts it. For a virtual machine another program listens."""


def is_owned_by_root(endpoint: Endpoint) -> bool:
    """True if root made the socket. Those of virtual machines and rootless engines belong to a user."""
    try:
        return endpoint.local and os.stat(endpoint.path).st_uid == 0
    except OSError:
        return False


def is_rootless_podman(endpoint: Endpoint) -> bool:
    """True if a user of this machine runs the Podman at this socket."""
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
