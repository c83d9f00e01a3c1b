"""The views of a program that waits for a debugger."""

from collections.abc import Iterator
from shlex import quote

from smlocal.jobs.planning.aspects.debugging.asked import debug_variables
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.jobs.planning.workload import Workload


def debug_text(plan: JobPlan) -> str | None:
    """Where it waits, and the limit that the wait counts towards."""
    if plan.debug is None:
        return None
    ports = ", ".join(f"{host} at 127.0.0.1:{port}" for host, port in plan.debug.ports.items())
    machine = "" if plan.engines.first.local else " of the engine's machine"
    limit = f"; the wait counts towards the time limit of {plan.stop.max_runtime} s" if plan.stop.max_runtime else ""
    said = f"Python programs wait for a debugger, or at breakpoint(): {ports}{machine}{limit}"
    return f"{said}. The service has no such port"


def debug_options(plan: JobPlan, host: HostPlan) -> Iterator[str]:
    """Docker's options for it, except the mount."""
    if plan.debug is not None:
        port = plan.debug.ports[host.host.name]
        if not plan.network.shared:
            yield f"-p 127.0.0.1:{port}:{port}"
        yield from (f"-e {quote(f'{name}={value}')}" for name, value in debug_variables(plan, host).items())


def _debug(plan: JobPlan, work: Workload) -> str | None:
    return debug_text(plan)


DEBUG_RULES = (NoteRule(id="debug", says=_debug),)
