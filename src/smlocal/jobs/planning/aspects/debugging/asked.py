"""The variables by which the program of a host learns that it has to wait for a debugger."""

from smlocal.jobs.planning.aspects.debugging.plan import PACKAGE
from smlocal.jobs.planning.model import HostPlan, JobPlan


def debug_variables(plan: JobPlan, host: HostPlan) -> dict[str, str]:
    """The port, and PYTHONPATH with the package first: Python imports the first sitecustomize that it finds."""
    if plan.debug is None:
        return {}
    port, facts = plan.debug.ports[host.host.name], (host.program or plan.image).facts
    image = facts.environment if facts is not None else {}
    searched = host.environment.get("PYTHONPATH") or image.get("PYTHONPATH") or ""
    return {
        "SMLOCAL_DEBUG_PORT": str(port),
        # On a network that is not the container's own, anybody who reaches this machine would reach the debugger.
        **({"SMLOCAL_DEBUG_ADDRESS": "127.0.0.1"} if plan.network.shared else {}),
        "PYTHONPATH": f"{PACKAGE}:{searched}".removesuffix(":"),
    }
