"""Where the programs of a job wait for a debugger."""

from collections.abc import Mapping, Sequence
from typing import Final

from smlocal.base.quick_dataclass import dataclass

PACKAGE: Final = "/opt/smlocal/debugging"
"""Read-only in the container: the modules that Python imports at its start."""
LAST_PORT: Final = 65535


@dataclass(frozen=True, kw_only=True, slots=True)
class DebugPlan:
    """One port for each host, the same in the container and on 127.0.0.1 of the engine's machine."""

    ports: Mapping[str, int]
    """By host name."""


def debug_of(port: int, hosts: Sequence[str]) -> DebugPlan | None:
    """The first host has the port, and each other one the next."""
    return DebugPlan(ports={name: port + number for number, name in enumerate(hosts)}) if port else None
