"""Whether the engine can hold containers to limits."""

from smlocal.doctor.interface import Finding, fine, warning
from smlocal.doctor.look import Look
from smlocal.engine.inspection import EngineDetails


def check(look: Look) -> Finding:
    """Ask which limits it knows."""
    return judge(look.details)


def judge(details: EngineDetails) -> Finding:
    """Only Local.EnforceInstanceLimits needs them."""
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
