"""Which GPUs of this machine each host of a job gets. No two hosts share one."""

from collections.abc import Sequence

from smlocal.contract.gpus import GpuDevices
from smlocal.contract.hosts import EVERY, Host
from smlocal.jobfile.settings import LocalSettings
from smlocal.planning.facts import Facts, GpuFacts


def gpu_counts(hosts: Sequence[Host], local: LocalSettings, ids: Sequence[str] | None) -> tuple[int, ...]:
    """How many GPUs each host should get, even if this machine has fewer.

    If the machine types do not decide, the hosts whose type has GPUs share them equally, or all hosts if none has.
    """
    own = [host.gpus for host in hosts]
    if local.AllowCpu or local.Gpus in ("none", 0):
        return (0,) * len(own)
    if local.Gpus == "auto" and EVERY not in own:
        return tuple(own)
    takers = [count != 0 for count in own] if any(own) else [True] * len(own)
    if isinstance(local.Gpus, int):
        each = local.Gpus
    else:
        pool = local.Gpus if isinstance(local.Gpus, list) else ids
        # At least one: too few GPUs must become an error, not a run without GPUs.
        each = EVERY if pool is None else max(1, len(pool) // sum(takers))
    return tuple(each if takes else 0 for takes in takers)


def wants_gpus(hosts: Sequence[Host], local: LocalSettings) -> bool:
    """True if at least one host should get GPUs."""
    return any(gpu_counts(hosts, local, None))


def gpu_pool(local: LocalSettings, facts: GpuFacts) -> tuple[str, ...] | None:
    """The GPUs that can be used, first those that no other job uses; None if not known."""
    if isinstance(local.Gpus, list):
        return tuple(str(each) for each in local.Gpus)
    return None if facts.ids is None else tuple(sorted(facts.ids, key=lambda each: each in facts.busy))


def share_out(hosts: Sequence[Host], local: LocalSettings, facts: GpuFacts) -> tuple[GpuDevices | None, ...]:
    """The GPUs of each host. Unknown GPUs are numbered from 0, as the driver does."""
    counts = gpu_counts(hosts, local, facts.ids)
    pool = list(gpu_pool(local, facts) or ())
    wanted = sum(count for count in counts if count > 0)
    pool += [each for each in map(str, range(wanted + len(pool))) if each not in pool]
    shared: list[GpuDevices | None] = []
    for count in counts:
        if count == EVERY:
            shared.append(GpuDevices(ids=(), every=True, cdi=facts.cdi))
            continue
        ids, pool = tuple(sorted(pool[:count], key=_number)), pool[count:]
        every = facts.ids is not None and set(ids) == set(facts.ids)
        shared.append(GpuDevices(ids=ids, every=every, cdi=facts.cdi) if ids else None)
    return tuple(shared)


def devices_of(hosts: Sequence[Host], local: LocalSettings, facts: Facts) -> tuple[GpuDevices | None, ...]:
    """The GPUs of each host; of a job on several engines, those of its engine."""
    if not facts.shares:
        return share_out(hosts, local, facts.machine.gpus)
    found: dict[str, GpuDevices | None] = {}
    for share in facts.shares:
        there = [host for host in hosts if host.name in share.hosts]
        found |= zip((host.name for host in there), share_out(there, local, share.machine.gpus), strict=True)
    return tuple(found[host.name] for host in hosts)


def _number(gpu: str) -> tuple[int, str]:
    return (int(gpu), "") if gpu.isdigit() else (1 << 30, gpu)
