"""Whether this user may use the engine, and who else may."""

import os

from smlocal.doctor.finding import Finding, fine, problem, unknown, warning
from smlocal.doctor.machine import Machine
from smlocal.engine.endpoint import Endpoint
from smlocal.errors import SmlocalError

_WORLD = 0o002


def check(machine: Machine) -> Finding:
    """Look at the permissions of the socket."""
    try:
        endpoint = machine.endpoint
    except SmlocalError:
        return unknown("not checked: no engine address")
    if not endpoint.path:
        return judge_network(endpoint)
    try:
        status = os.stat(endpoint.path)
    except OSError as error:
        return unknown(f"{endpoint.path}: {error.strerror}")
    return judge(endpoint.path, mode=status.st_mode, usable=os.access(endpoint.path, os.R_OK | os.W_OK))


def judge(path: str, *, mode: int, usable: bool) -> Finding:
    """Write access to the socket is as good as root on the engine's machine."""
    if not usable:
        return problem(
            f"this user may not write to {path}",
            "sudo usermod -aG docker $USER     then log in again, or: newgrp docker",
        )
    if mode & _WORLD:
        return warning(f"every user of this machine may use {path}, and become root", f"sudo chmod o-rw {path}")
    return fine(f"this user may use {path}")


def judge_network(endpoint: Endpoint) -> Finding:
    """Without TLS, anyone who reaches the port is root there."""
    if endpoint.command:
        return fine(f"{endpoint.address}, by ssh")
    if endpoint.tls is None and endpoint.host not in {"localhost", "127.0.0.1", "::1"}:
        return warning(
            f"{endpoint.address} does not use TLS: anyone who reaches the port is root there",
            "Use ssh or TLS: DOCKER_HOST=ssh://user@host",
        )
    return fine(f"{endpoint.address}, over the network")
