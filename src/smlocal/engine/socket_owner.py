"""Finds out who made a socket, without a request: Podman takes most of a second to report what it is."""

import os
import socket
import struct

from smlocal.engine.endpoint import Endpoint

_WHO = struct.Struct("3i")
"""Process, user and group of the other end of a socket."""
_LINUX = "Linux"
_OWN = frozenset({"podman", "systemd"})
"""Podman itself, or the user's systemd, which starts it. For a virtual machine another program listens."""


def is_owned_by_root(endpoint: Endpoint) -> bool:
    """True if root made the socket. Those of virtual machines and rootless engines belong to a user.

    Other systems than Linux have engines in virtual machines only.
    """
    try:
        return endpoint.local and os.uname().sysname == _LINUX and os.stat(endpoint.path).st_uid == 0
    except OSError:
        return False


def socket_identity(endpoint: Endpoint) -> str:
    """Tells this socket from others, and from the one that an engine makes when it starts again."""
    try:
        status = os.stat(endpoint.path)
    except OSError:
        return ""
    return f"{endpoint.address} {status.st_dev}:{status.st_ino} {status.st_ctime_ns}"


def is_rootless_podman(endpoint: Endpoint) -> bool:
    """True if a user of this machine runs the Podman at this socket."""
    try:
        process, user = _listener(endpoint)
        if user == 0 or process == 0:
            return False
        with open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().rstrip("\n") in _OWN
    except OSError:
        return False


def has_our_mounts(endpoint: Endpoint) -> bool:
    """True if the listener is in this process's mount namespace, or is a user's own engine, in a copy of it.

    False if that cannot be seen: for example from a container into which the socket is mounted. The first mount of a
    namespace has a number that no other namespace has.
    """
    try:
        process, user = _listener(endpoint)
        if process == 0:
            return False
        with open(f"/proc/{process}/mountinfo", "rb") as theirs, open("/proc/self/mountinfo", "rb") as ours:
            return user != 0 or theirs.readline() == ours.readline()
    except OSError:
        return False


def _listener(endpoint: Endpoint) -> tuple[int, int]:
    """The process that listens and its user; 0 for a process that this one cannot see. `OSError` if not known."""
    if not endpoint.local or not hasattr(socket, "SO_PEERCRED"):
        raise OSError
    with endpoint.connect() as connection:
        process, user, _ = _WHO.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _WHO.size))
    return process, user
