"""Which instance types are large enough for what a job used. Pure."""

from collections.abc import Sequence

from smlocal.contract.usage import MIB, HostUsage, Verdict, readable_memory
from smlocal.platforms.sagemaker.contract.instance_types import InstanceType
from smlocal.quick_dataclass import dataclass

NEAR = 0.9
"""A peak above this share of an instance's memory may not fit: the system needs a part of the memory."""
_MAX_SUGGESTED = 3
_ALL_CORES = 0.95
"""A container that used this share of the machine's processors might have used more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """About the hosts of one instance type."""

    instance_type: InstanceType
    hosts: tuple[str, ...]
    verdict: Verdict
    fits: tuple[InstanceType, ...]
    """The smallest types, of different sizes, that are large enough for the peaks."""
    sentences: tuple[str, ...]


def advise(
    requested: InstanceType, hosts: Sequence[HostUsage], types: Sequence[InstanceType], *, machine_cpus: int
) -> Advice:
    """Compare the peaks of these hosts, at least one, with their instance type and the others in the table."""
    memory = max(host.memory_peak for host in hosts)
    gpu_memory = max(host.gpu_memory_peak or 0 for host in hosts)
    cores = max(host.cores_needed for host in hosts)
    verdict = _verdict(requested, hosts)
    fits: tuple[InstanceType, ...] = ()
    if verdict is not Verdict.KILLED:
        fits = _smallest(
            requested, [t for t in types if _same_kind(t, requested) and _is_large_enough(t, memory, gpu_memory, cores)]
        )
    sentences = [*_memory_sentences(requested, hosts), *_gpu_sentences(requested, gpu_memory)]
    if fits:
        sentences.append(f"{_peaks_text(memory, gpu_memory, hosts)} would fit in {_types_text(fits)}.")
    elif verdict is not Verdict.KILLED:
        sentences.append(f"{_peaks_text(memory, gpu_memory, hosts)} would not fit in any instance type of this kind.")
    if max(host.cpu_peak for host in hosts) >= _ALL_CORES * machine_cpus and machine_cpus < requested.vcpus:
        sentences.append(
            f"All {machine_cpus} processors of this machine were in use at the peak: it might use more of the "
            f"{requested.vcpus} of {requested.name}."
        )
    names = tuple(host.name for host in hosts)
    return Advice(instance_type=requested, hosts=names, verdict=verdict, fits=fits, sentences=tuple(sentences))


def _verdict(requested: InstanceType, hosts: Sequence[HostUsage]) -> Verdict:
    share = max(host.memory_peak for host in hosts) / (requested.memory_mib * MIB)
    if requested.gpu_memory_mib:
        share = max(share, *((host.gpu_memory_peak or 0) / (requested.gpu_memory_mib * MIB) for host in hosts))
    if share >= 1:
        return Verdict.EXCEEDED
    if any(host.oom_killed for host in hosts):
        return Verdict.KILLED
    return Verdict.NEAR if share >= NEAR else Verdict.FITS


def _same_kind(candidate: InstanceType, requested: InstanceType) -> bool:
    """The same kind of machine: an image runs on one architecture, and code expects a number of accelerators."""
    return (candidate.gpus, candidate.neuron_devices, candidate.architecture) == (
        requested.gpus,
        requested.neuron_devices,
        requested.architecture,
    )


def _is_large_enough(candidate: InstanceType, memory: int, gpu_memory: int, cores: int) -> bool:
    return (
        memory < NEAR * candidate.memory_mib * MIB
        and cores <= candidate.vcpus
        and (not gpu_memory or gpu_memory < NEAR * candidate.gpu_memory_mib * MIB)
    )


def _smallest(requested: InstanceType, candidates: Sequence[InstanceType]) -> tuple[InstanceType, ...]:
    """One type of each size, of the requested family if it has that size."""
    sizes: dict[tuple[int, int, int], InstanceType] = {}
    for candidate in candidates:
        size = (candidate.memory_mib, candidate.vcpus, candidate.gpu_memory_mib)
        if size not in sizes or candidate.family == requested.family:
            sizes[size] = candidate
    return tuple(sizes[size] for size in sorted(sizes)[:_MAX_SUGGESTED])


def _memory_sentences(requested: InstanceType, hosts: Sequence[HostUsage]) -> list[str]:
    sentences = []
    size = requested.memory_mib * MIB
    for host in sorted(hosts, key=lambda host: -host.memory_peak):
        held = f"{host.name} held {readable_memory(host.memory_peak)} at its peak"
        if host.oom_killed and host.memory_limit:
            sentences.append(
                f"{host.name}: the kernel killed a process because it needed more than the "
                f"{readable_memory(host.memory_limit)} of Local.Memory. Raise Local.Memory. The highest use measured "
                f"before is {readable_memory(host.memory_peak)}."
            )
        elif host.oom_killed:
            sentences.append(
                f"{host.name}: the kernel killed a process because memory ran out. The highest use measured before is "
                f"{readable_memory(host.memory_peak)}; how much it needs is not known."
            )
        if host.memory_peak >= size:
            sentences.append(
                f"{held}; {requested.name} has {readable_memory(size)}, and it would run out of memory there."
            )
        elif host.memory_peak >= NEAR * size and not host.oom_killed:
            share = 100 * host.memory_peak / size
            sentences.append(
                f"{held}, {share:.0f} % of the {readable_memory(size)} of {requested.name}, "
                "of which the system needs a part."
            )
    return sentences


def _gpu_sentences(requested: InstanceType, gpu_memory: int) -> list[str]:
    size = requested.gpu_memory_mib * MIB
    if not size or gpu_memory < NEAR * size:
        return []
    name = f"{requested.name} ({requested.gpu_name})"
    held = f"A GPU held {readable_memory(gpu_memory)} at its peak; one of {name} has {readable_memory(size)}"
    return [f"{held}, and it would run out of memory there." if gpu_memory >= size else f"{held}."]


def _peaks_text(memory: int, gpu_memory: int, hosts: Sequence[HostUsage]) -> str:
    cpu = max(host.cpu_peak for host in hosts)
    gpu = f", {readable_memory(gpu_memory)} of a GPU" if gpu_memory else ""
    return f"The peak{'s' if len(hosts) > 1 else ''} of {readable_memory(memory)}{gpu} and {cpu:.1f} cores"


def _types_text(types: Sequence[InstanceType]) -> str:
    return ", ".join(f"{t.name} ({readable_memory(t.memory_mib * MIB)}, {t.vcpus} vCPU)" for t in types)
