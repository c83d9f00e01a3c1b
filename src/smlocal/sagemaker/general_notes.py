"""Notes that jobs of several kinds have."""

from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule, some
from smlocal.jobs.planning.workload import Workload


def _relaxed_instance(plan: JobPlan, work: Workload) -> str | None:
    here = [host.host.instance_type for host in plan.hosts if host.host.is_this_machine]
    return (
        f"the instance type {some(here)} means this machine; the service requires a real instance type"
        if here
        else None
    )


def _relaxed_role(plan: JobPlan, work: Workload) -> str | None:
    return None if work.role else "RoleArn is missing; the service requires it"


def _vpc(plan: JobPlan, work: Workload) -> str | None:
    return "VpcConfig is recorded; the container is on a network of this engine" if work.in_vpc else None


def _peer_grace(plan: JobPlan, work: Workload) -> str | None:
    if len(plan.hosts) == 1:
        return None
    return f"when a host fails, the others get SIGTERM and {plan.stop.peer_grace} s (inferred; Local.PeerGraceSeconds)"


RELAXED_ROLE = NoteRule(id="relaxed-role", says=_relaxed_role)
RELAXED_INSTANCE = NoteRule(id="relaxed-instance", says=_relaxed_instance)
PEER_GRACE = NoteRule(id="peer-grace", says=_peer_grace)
VPC = NoteRule(id="vpc", says=_vpc)
GENERAL_RULES = (RELAXED_ROLE, RELAXED_INSTANCE, PEER_GRACE, VPC)
