"""The views of the limits of containers: a row, a document, docker's options, and limits that are not enforced."""

from collections.abc import Iterator
from shlex import quote
from typing import Any

from smlocal.base.readable import readable_bytes
from smlocal.jobs.planning.aspects.inputs.plan import delivered_bytes
from smlocal.jobs.planning.aspects.limits.plan import MIB
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule, some
from smlocal.jobs.planning.workload import Workload
from smlocal.terms.hosts import Host
from smlocal.terms.limits import Limits
from smlocal.terms.usage import readable_memory


def limit_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """The limits of the containers, for each instance type once."""
    shown = {host.host.instance_type: limits_document(host.limits) for host in plan.hosts}
    for kind, limits in shown.items():
        if limits:
            yield "Limits", f"{kind}: {', '.join(f'{name} {_limit(limit)}' for name, limit in limits.items())}"


def _limit(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {soft}:{hard}" for name, (soft, hard) in value.items())
    return readable_bytes(value) if isinstance(value, int) else f"{value:g}"


def limits_document(limits: Limits) -> dict[str, Any]:
    """The limits that are set."""
    document = {
        "Memory": limits.memory,
        "Cpus": limits.cpus,
        "ShmSize": limits.shared_memory,
        "Ulimits": {name: list(pair) for name, pair in limits.ulimits.items()} or None,
        "Processes": limits.processes,
        "Disk": limits.disk,
    }
    return {name: value for name, value in document.items() if value is not None}


def limit_options(limits: Limits) -> Iterator[str]:
    """The options of docker for the limits of one container."""
    if limits.memory is not None:
        yield f"--memory {limits.memory} --memory-swap {limits.memory}"
    if limits.cpus is not None:
        yield f"--cpus {limits.cpus:g}"
    if limits.shared_memory is not None:
        yield f"--shm-size {limits.shared_memory}"
    if limits.processes is not None:
        yield f"--pids-limit {limits.processes}"


def ulimit_options(limits: Limits) -> Iterator[str]:
    """Those for ulimits."""
    yield from (f"--ulimit {quote(f'{limit}={soft}:{hard}')}" for limit, (soft, hard) in limits.ulimits.items())


def _types(plan: JobPlan) -> list[Host]:
    """A host of each type that has a size."""
    return list({each.host.instance_type: each.host for each in plan.hosts if not each.host.is_this_machine}.values())


def _not_enforced(plan: JobPlan, work: Workload) -> str | None:
    if work.local.EnforceInstanceLimits:
        return None
    machine = plan.engines.machine
    # A machine has a little less memory than its type says: the kernel and the firmware keep some.
    unlike = [
        size
        for size in _types(plan)
        if size.vcpus != machine.cpus or not 0 <= size.memory_mib - machine.memory_mib <= size.memory_mib // 10
    ]
    if not unlike:
        return None
    setting = " (Local.EnforceInstanceLimits)" if plan.serving is None else ""
    return (
        f"CPU and memory of {some([_described(size) for size in unlike])} are not enforced: "
        f"this machine has {machine.cpus} CPUs and {machine.memory_mib // 1024} GiB{setting}"
    )


def _described(size: Host) -> str:
    return f"{size.instance_type} ({size.vcpus} vCPU, {size.memory_mib // 1024} GiB)"


def _clamped(plan: JobPlan, work: Workload) -> str | None:
    machine = plan.engines.machine
    larger = [t for t in _types(plan) if t.vcpus > machine.cpus or t.memory_mib > machine.memory_mib]
    if not work.local.EnforceInstanceLimits or not larger:
        return None
    return (
        f"this machine is smaller than {some([_described(size) for size in larger])}: "
        f"the limits are {machine.cpus} CPUs and {readable_memory(machine.memory_mib * MIB)}"
    )


def _together(plan: JobPlan, work: Workload) -> str | None:
    for address, machine in plan.engines.by_address.items():
        hosts = [host for host in plan.hosts if host.engine in {"", address}]
        allowed = sum(host.limits.memory or 0 for host in hosts)
        if len(hosts) > 1 and allowed > machine.memory_mib * MIB:
            who = ", ".join(host.host.name for host in hosts) if plan.engines.several else "the hosts"
            there = f"the machine of the engine at {address}" if plan.engines.several else "this machine"
            return (
                f"{who} may use {readable_memory(allowed)} of memory together, and {there} has "
                f"{readable_memory(machine.memory_mib * MIB)}: it may run out before a host reaches its limit"
            )
    return None


def _own_limits(plan: JobPlan, work: Workload) -> str | None:
    given = [
        name for name in ("Memory", "Cpus", "ShmSize", "Ulimits", "Processes") if getattr(work.local, name) is not None
    ]
    return f"limits that the service does not have: {', '.join(f'Local.{name}' for name in given)}" if given else None


def _unsupported(plan: JobPlan, work: Workload) -> str | None:
    limits = plan.hosts[0].limits
    wanted = {"memory": limits.memory, "CPUs": limits.cpus, "processes": limits.processes}
    unheard = [name for name in plan.engines.machine.limits.unlimited if wanted.get(name) is not None]
    return f"the engine cannot limit {' and '.join(unheard)}: the limits have no effect" if unheard else None


def _volume(plan: JobPlan, work: Workload) -> str | None:
    facts = plan.engines.machine.limits
    if work.volume_gb is None:
        return None
    if not work.local.EnforceInstanceLimits:
        return "VolumeSizeInGB is recorded, not enforced here (Local.EnforceInstanceLimits)"
    if facts.no_volume is not None:
        return f"VolumeSizeInGB is not enforced: {facts.no_volume}"
    left = work.volume_gb * (MIB << 10) - max(delivered_bytes(host.inputs.trees) for host in plan.hosts)
    if facts.free_disk is not None and facts.free_disk < left:
        return f"too little disk space for the volume: its size is {readable_memory(facts.free_disk)} instead"
    return None


def _volume_full(plan: JobPlan, work: Workload) -> str | None:
    over = [host.host.name for host in plan.hosts if host.limits.disk == 0]
    if not over:
        return None
    return f"the data does not fit in VolumeSizeInGB: the download fails as on the service ({some(over)})"


LIMIT_RULES = (
    NoteRule(id="volume-full", says=_volume_full, warning=True),
    NoteRule(id="limits-unsupported", says=_unsupported, warning=True),
    NoteRule(id="instance-size", says=_not_enforced),
    NoteRule(id="instance-clamped", says=_clamped),
    NoteRule(id="memory-together", says=_together),
    NoteRule(id="limits-own", says=_own_limits),
    NoteRule(id="volume-size", says=_volume),
)
