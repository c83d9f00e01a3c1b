"""The GPUs and Neuron devices (Trainium, Inferentia) of each host. No two hosts share one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.gpus import GpuDevices
from smlocal.terms.hosts import EVERY, Host

if TYPE_CHECKING:
    from smlocal.jobfile.settings import LocalSettings

GPUS_LABEL = "smlocal.gpus"
"""On a container: the ids of its GPUs, so that other jobs use other GPUs if they can."""
NEURON = "/dev/neuron"
"""Devices are numbered from 0: `/dev/neuron0`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuFacts:
    """The GPUs for containers; gathered only for jobs that want some."""

    ids: tuple[str, ...] | None = None
    """As `nvidia-smi` numbers them; None if not known."""
    cdi: bool = False
    """True if the engine has them as CDI devices."""
    busy: Mapping[str, str] = field(default_factory=dict)
    """The job that uses a GPU now, by the GPU's id."""
    trouble: str | None = None
    """The driver's error message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AcceleratorFacts:
    """The devices of an engine's machine for programs that need more than processors."""

    gpus: GpuFacts = field(default_factory=GpuFacts)
    neuron: int | None = None
    """The number of Neuron devices, for jobs that need some; None if not known."""
    plain_runtime: str | None = ""
    """The engine's runtime for containers that no variable gives GPUs to. Empty: the usual one. None: it has none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostAccelerators:
    """The devices of one container."""

    gpus: GpuDevices | None = None
    """None without GPUs."""
    neuron: tuple[str, ...] = ()
    """Neuron devices, such as `/dev/neuron0`."""
    runtime: str = ""
    """The engine's runtime; empty: the usual one."""

    @property
    def gpu_count(self) -> int:
        """The number of GPUs; 0 even if it gets all and their number is not known."""
        return len(self.gpus.ids) if self.gpus is not None else 0


def gpu_counts(hosts: Sequence[Host], local: "LocalSettings", ids: Sequence[str] | None) -> tuple[int, ...]:
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


def wants_gpus(hosts: Sequence[Host], local: "LocalSettings") -> bool:
    """True if at least one host should get GPUs."""
    return any(gpu_counts(hosts, local, None))


def gpu_pool(local: "LocalSettings", facts: GpuFacts) -> tuple[str, ...] | None:
    """The GPUs that can be used, first those that no other job uses; None if not known."""
    if isinstance(local.Gpus, list):
        return tuple(str(each) for each in local.Gpus)
    return None if facts.ids is None else tuple(sorted(facts.ids, key=lambda each: each in facts.busy))


def share_out(hosts: Sequence[Host], local: "LocalSettings", facts: GpuFacts) -> tuple[GpuDevices | None, ...]:
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


def neuron_devices(hosts: Sequence[Host], local: "LocalSettings") -> tuple[tuple[str, ...], ...]:
    """The device files of each host: as many as its type has, even if there are fewer; none with `--allow-cpu`."""
    shared: list[tuple[str, ...]] = []
    used = 0
    for host in hosts:
        count = 0 if local.AllowCpu else host.neuron
        shared.append(tuple(f"{NEURON}{number}" for number in range(used, used + count)))
        used += count
    return tuple(shared)


def accelerators_of(
    hosts: Sequence[Host], local: "LocalSettings", groups: Iterable[tuple[Sequence[Host], AcceleratorFacts]]
) -> Mapping[str, HostAccelerators]:
    """The devices of each host, by its name. `groups`: the hosts of each machine, and its devices."""
    neuron = dict(zip((host.name for host in hosts), neuron_devices(hosts, local), strict=True))
    found = {}
    for there, facts in groups:
        for host, gpus in zip(there, share_out(there, local, facts.gpus), strict=True):
            runtime = (facts.plain_runtime or "") if gpus is None else ""
            found[host.name] = HostAccelerators(gpus=gpus, neuron=neuron[host.name], runtime=runtime)
    return found


def _number(gpu: str) -> tuple[int, str]:
    return (int(gpu), "") if gpu.isdigit() else (1 << 30, gpu)
