"""Where the programs of a job wait for a debugger."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from smlocal.base.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.jobs.planning.model import HostPlan, JobPlan

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


def debug_variables(plan: "JobPlan", host: "HostPlan") -> dict[str, str]:
    """The port, and PYTHONPATH with the package first: Python imports the first sitecustomize that it finds."""
    if plan.debug is None:
        return {}
    port, facts = plan.debug.ports[host.host.name], (host.program or plan.image).facts
    image = facts.environment if facts is not None else {}
    searched = host.environment.get("PYTHONPATH") or image.get("PYTHONPATH") or ""
    return {
        "SMLOCAL_DEBUG_PORT": str(port),
        "PYTHONPATH": f"{PACKAGE}:{searched}".removesuffix(":"),
    }
