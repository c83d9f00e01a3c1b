"""Notes on limits: what is enforced of an instance type, and what is not."""

from smlocal.planning.limits import MIB
from smlocal.planning.model import JobPlan
from smlocal.platforms.sagemaker.contract.instance_types import InstanceType, instance_type, is_this_machine
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.planning.limits import delivered_bytes
from smlocal.platforms.sagemaker.planning.note_rule import NoteRule, some


def _readable(count: float) -> str:
    from smlocal.contract.usage import readable_memory  # only for jobs with limits

    return readable_memory(count)


def _types(plan: JobPlan) -> list[InstanceType]:
    names = dict.fromkeys(host.host.instance_type for host in plan.hosts)
    return [instance_type(name) for name in names if not is_this_machine(name)]


def _not_enforced(plan: JobPlan, job: JobFile) -> str | None:
    if job.local.EnforceInstanceLimits:
        return None
    machine = plan.machine
    # A machine has a little less memory than its type says: the kernel and the firmware keep some.
    unlike = [
        size
        for size in _types(plan)
        if size.vcpus != machine.cpus or not 0 <= size.memory_mib - machine.memory_mib <= size.memory_mib // 10
    ]
    if not unlike:
        return None
    return (
        f"CPU and memory of {some([_described(size) for size in unlike])} are not enforced: "
        f"this machine has {machine.cpus} CPUs and {machine.memory_mib // 1024} GiB (Local.EnforceInstanceLimits)"
    )


def _described(size: InstanceType) -> str:
    return f"{size.name} ({size.vcpus} vCPU, {size.memory_mib // 1024} GiB)"


def _clamped(plan: JobPlan, job: JobFile) -> str | None:
    machine = plan.machine
    larger = [t for t in _types(plan) if t.vcpus > machine.cpus or t.memory_mib > machine.memory_mib]
    if not job.local.EnforceInstanceLimits or not larger:
        return None
    return (
        f"this machine is smaller than {some([_described(size) for size in larger])}: "
        f"the limits are {machine.cpus} CPUs and {_readable(machine.memory_mib * MIB)}"
    )


def _together(plan: JobPlan, job: JobFile) -> str | None:
    for address, machine in plan.engine_machines.items():
        hosts = [host for host in plan.hosts if host.engine in {"", address}]
        allowed = sum(host.limits.memory or 0 for host in hosts)
        if len(hosts) > 1 and allowed > machine.memory_mib * MIB:
            who = ", ".join(host.host.name for host in hosts) if plan.engines else "the hosts"
            there = f"the machine of the engine at {address}" if plan.engines else "this machine"
            return (
                f"{who} may use {_readable(allowed)} of memory together, and {there} has "
                f"{_readable(machine.memory_mib * MIB)}: it may run out before a host reaches its limit"
            )
    return None


def _own_limits(plan: JobPlan, job: JobFile) -> str | None:
    given = [
        name for name in ("Memory", "Cpus", "ShmSize", "Ulimits", "Processes") if getattr(job.local, name) is not None
    ]
    return f"limits that the service does not have: {', '.join(f'Local.{name}' for name in given)}" if given else None


def _unsupported(plan: JobPlan, job: JobFile) -> str | None:
    limits = plan.hosts[0].limits
    wanted = {"memory": limits.memory, "CPUs": limits.cpus, "processes": limits.processes}
    unheard = [name for name in plan.machine.unlimited if wanted.get(name) is not None]
    return f"the engine cannot limit {' and '.join(unheard)}: the limits have no effect" if unheard else None


def _volume(plan: JobPlan, job: JobFile) -> str | None:
    resources = job.request.ResourceConfig
    if resources is None or resources.VolumeSizeInGB is None:
        return None
    if not job.local.EnforceInstanceLimits:
        return "VolumeSizeInGB is recorded, not enforced here (Local.EnforceInstanceLimits)"
    if plan.no_volume is not None:
        return f"VolumeSizeInGB is not enforced: {plan.no_volume}"
    left = resources.VolumeSizeInGB * (MIB << 10) - max(delivered_bytes(host.channels) for host in plan.hosts)
    if plan.machine.free_disk is not None and plan.machine.free_disk < left:
        return f"too little disk space for the volume: its size is {_readable(plan.machine.free_disk)} instead"
    return None


def _volume_full(plan: JobPlan, job: JobFile) -> str | None:
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
