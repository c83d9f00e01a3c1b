"""The size of instance types, and which of them are large enough for what a job used."""

import os.path
from collections.abc import Sequence
from functools import cache

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.hosts import EVERY, GROUP, Host
from smlocal.terms.usage import MIB, HostUsage, MemoryVerdict, readable_memory

LOCAL, LOCAL_GPU = "local", "local_gpu"
"""This machine without and with its GPUs, as in the SDK's local mode."""
_TABLE = os.path.join(os.path.dirname(__file__), "instance_types.csv")


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceType:
    """The size of one instance type."""

    name: str
    vcpus: int
    memory_mib: int
    gpus: int
    gpu_name: str = ""
    gpu_memory_mib: int = 0
    """For each GPU."""
    neuron_devices: int = 0
    architecture: str = "x86_64"

    @property
    def family(self) -> str:
        """`m5` of `ml.m5.large`."""
        return self.name.split(".")[1] if "." in self.name else self.name


@cache
def instance_type(name: str) -> InstanceType:
    """The size of an instance type. The table has a row for each type that validation accepts."""
    with open(_TABLE, encoding="utf-8") as table:
        for line in table:
            if line.startswith(f"{name},"):
                return _row(line)
    raise LookupError(name)


def type_gpus(name: str) -> int:
    """How many GPUs an instance type has; `EVERY` of `local_gpu`."""
    if name == LOCAL_GPU:
        return EVERY
    return 0 if name == LOCAL else instance_type(name).gpus


def type_neuron(name: str) -> int:
    """How many Neuron devices an instance type has."""
    return 0 if is_this_machine(name) else instance_type(name).neuron_devices


def is_this_machine(name: str) -> bool:
    """True for `local` and `local_gpu`."""
    return name in {LOCAL, LOCAL_GPU}


def host_of_type(name: str, number: int, kind: str, *, group: str = GROUP) -> Host:
    """A host of an instance type, with the size of that type."""
    size = None if is_this_machine(kind) else instance_type(kind)
    return Host(
        name=name,
        number=number,
        instance_type=kind,
        group=group,
        gpus=type_gpus(kind),
        neuron=0 if size is None else size.neuron_devices,
        vcpus=0 if size is None else size.vcpus,
        memory_mib=0 if size is None else size.memory_mib,
    )


def size_here(name: str, *, cpus: int, memory_mib: int, gpus: int = 0) -> InstanceType:
    """The size of an instance type, or of this machine for `local` and `local_gpu`."""
    if not is_this_machine(name):
        return instance_type(name)
    return InstanceType(name=name, vcpus=cpus, memory_mib=memory_mib, gpus=gpus if name == LOCAL_GPU else 0)


@cache
def instance_types() -> tuple[InstanceType, ...]:
    """All instance types, in the order of the table."""
    with open(_TABLE, encoding="utf-8") as table:
        return tuple(_row(line) for line in table if line.startswith("ml."))


def _row(line: str) -> InstanceType:
    name, vcpus, memory, gpus, gpu, gpu_memory, neuron, architecture = line.rstrip().split(",")
    return InstanceType(
        name=name,
        vcpus=int(vcpus),
        memory_mib=int(memory),
        gpus=int(gpus),
        gpu_name=gpu,
        gpu_memory_mib=int(gpu_memory or 0),
        neuron_devices=int(neuron),
        architecture=architecture,
    )


# Which instance types are large enough for what a job used. Pure.

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
    verdict: MemoryVerdict
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
    if verdict is not MemoryVerdict.KILLED:
        fits = _smallest(
            requested, [t for t in types if _same_kind(t, requested) and _is_large_enough(t, memory, gpu_memory, cores)]
        )
    sentences = [*_memory_sentences(requested, hosts), *_gpu_sentences(requested, gpu_memory)]
    if fits:
        sentences.append(f"{_peaks_text(memory, gpu_memory, hosts)} would fit in {_types_text(fits)}.")
    elif verdict is not MemoryVerdict.KILLED:
        sentences.append(f"{_peaks_text(memory, gpu_memory, hosts)} would not fit in any instance type of this kind.")
    if max(host.cpu_peak for host in hosts) >= _ALL_CORES * machine_cpus and machine_cpus < requested.vcpus:
        sentences.append(
            f"All {machine_cpus} processors of this machine were in use at the peak: it might use more of the "
            f"{requested.vcpus} of {requested.name}."
        )
    names = tuple(host.name for host in hosts)
    return Advice(instance_type=requested, hosts=names, verdict=verdict, fits=fits, sentences=tuple(sentences))


def _verdict(requested: InstanceType, hosts: Sequence[HostUsage]) -> MemoryVerdict:
    share = max(host.memory_peak for host in hosts) / (requested.memory_mib * MIB)
    if requested.gpu_memory_mib:
        share = max(share, *((host.gpu_memory_peak or 0) / (requested.gpu_memory_mib * MIB) for host in hosts))
    if share >= 1:
        return MemoryVerdict.EXCEEDED
    if any(host.oom_killed for host in hosts):
        return MemoryVerdict.KILLED
    return MemoryVerdict.NEAR if share >= NEAR else MemoryVerdict.FITS


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
