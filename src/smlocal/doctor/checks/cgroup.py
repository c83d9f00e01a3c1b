"""Whether the engine can limit the memory and CPUs of containers."""

from smlocal.doctor.finding import Finding, fine, warning
from smlocal.doctor.machine import Machine
from smlocal.engine.inspection import EngineDetails


def check(machine: Machine) -> Finding:
    """Read which limits it supports."""
    return judge(machine.details)


def judge(details: EngineDetails) -> Finding:
    """Only Local.EnforceInstanceLimits needs limits."""
    version = f"cgroup v{details.cgroup_version}" if details.cgroup_version else "no cgroups told"
    if not details.unlimited:
        return fine(f"{version}: memory and CPUs can be limited")
    if details.rootless:
        remedy = (
            "A rootless engine needs cgroup v2 and delegation: systemctl edit user@.service, Delegate=cpu memory pids"
        )
    else:
        remedy = "Give the engine these controllers: on Debian, cgroup_enable=memory swapaccount=1 on the kernel's line"
    return warning(f"{version}: {' and '.join(details.unlimited)} cannot be limited (EnforceInstanceLimits)", remedy)
