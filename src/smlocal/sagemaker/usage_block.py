"""The `Usage` member of the `Local` block: the usage of each host, and advice on instance types."""

import os.path
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.planning.aspects.engines.look import memory_mib
from smlocal.jobs.planning.aspects.limits.plan import own_memory_limit
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.usage.series import UsageSeries, read_series
from smlocal.jobs.usage.usage_watch import series_path, usage_directory
from smlocal.sagemaker.contract.instance_types import Advice, InstanceType, advise, instance_types, size_here
from smlocal.terms.usage import MIB, HostUsage, host_usage


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasuredHost:
    """A host that may have been measured."""

    name: str
    instance_type: str
    oom_killed: bool = False
    gpus: int = 0
    """That it got; needed if its type is `local`."""
    memory_limit: int = 0
    """The value of Local.Memory in bytes; 0 where the job sets none."""


def usage_block(job_directory: str, hosts: Sequence[MeasuredHost], *, machine_cpus: int) -> dict[str, Any] | None:
    """The block of a job that runs or has ended.

    None if nothing was measured, as when it ends within its first second.
    """
    if not os.path.isdir(usage_directory(job_directory)):
        return None

    gpus = {host.instance_type: host.gpus for host in hosts}

    def type_of(name: str) -> InstanceType:
        return size_here(name, cpus=machine_cpus, memory_mib=memory_mib(), gpus=gpus[name])

    documents, notes = [], []
    kinds: dict[str, list[HostUsage]] = {}
    for host in hosts:
        path = series_path(job_directory, host.name)
        series = UsageSeries()
        with suppress(OSError):
            series = read_series(path)
        notes += [f"{host.name}: {note}" for note in dict.fromkeys(series.notes)]
        used = host_usage(host.name, series.containers, oom_killed=host.oom_killed, memory_limit=host.memory_limit)
        if used is not None:
            kinds.setdefault(host.instance_type, []).append(used)
            documents.append(_host(used, type_of(host.instance_type), series, path))
    advice = [advise(type_of(k), used, instance_types(), machine_cpus=machine_cpus) for k, used in kinds.items()]
    return {"Hosts": documents, "Advice": [_advice(each) for each in advice], "Notes": notes}


def planned_usage(plan: JobPlan, killed: Collection[str]) -> dict[str, Any] | None:
    """The block of a job's plan; `killed`: hosts whose memory ran out."""
    hosts = [
        MeasuredHost(
            name=host.host.name,
            instance_type=host.host.instance_type,
            oom_killed=host.host.name in killed,
            gpus=host.accelerators.gpu_count,
            memory_limit=own_memory_limit(host.host, host.limits, memory_mib=plan.engines.machine.memory_mib),
        )
        for host in plan.hosts
    ]
    return usage_block(plan.job_directory, hosts, machine_cpus=plan.engines.machine.cpus)


def _host(used: HostUsage, kind: InstanceType, series: UsageSeries, path: str) -> dict[str, Any]:
    return {
        "Name": used.name,
        "InstanceType": _type_document(kind),
        "Seconds": round(used.seconds, 1),
        "MemoryPeakMiB": _mib(used.memory_peak),
        "MemoryLimitMiB": _mib(used.memory_limit) if used.memory_limit else None,
        "MemoryWithCachePeakMiB": _mib(used.memory_with_cache_peak),
        "CpuPeak": round(used.cpu_peak, 2),
        "CpuMean": round(used.cpu_mean, 3),
        "DiskReadBytes": used.disk_read,
        "DiskWrittenBytes": used.disk_written,
        "DiskHeldBytes": dict(series.held),
        "NetworkReceivedBytes": used.network_received,
        "NetworkSentBytes": used.network_sent,
        "GpuPeakPercent": used.gpu_percent_peak,
        "GpuMeanPercent": None if used.gpu_percent_mean is None else round(used.gpu_percent_mean, 1),
        "GpuMemoryPeakMiB": None if used.gpu_memory_peak is None else _mib(used.gpu_memory_peak),
        "Points": used.points,
        "Series": path,
    }


def _advice(advice: Advice) -> dict[str, Any]:
    return {
        "InstanceType": advice.instance_type.name,
        "Hosts": list(advice.hosts),
        "Verdict": advice.verdict,
        "Fits": [_type_document(kind) for kind in advice.fits],
        "Sentences": list(advice.sentences),
    }


def _type_document(kind: InstanceType) -> dict[str, Any]:
    return {"Name": kind.name, "VCpus": kind.vcpus, "MemoryMiB": kind.memory_mib, "Gpus": kind.gpus}


def _mib(count: int) -> float:
    return round(count / MIB, 1)
