"""The machines of both services: processors, memory, accelerators, and the share of the memory that a container gets.

Sizes are those of Compute Engine's pages on machine families. The legacy names of AI Platform Training stand for such
machines, by its pages on machine types and prices, and so do its scale tiers.
"""

import os.path
from fnmatch import fnmatchcase
from functools import cache
from typing import Final

from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.base.quick_dataclass import dataclass

_TABLE: Final = os.path.join(os.path.dirname(__file__), "machine_types.csv")
_GIB: Final = 1024
_SMALLEST_MIB: Final = 15 * _GIB
"""Memory of n1-standard-4, of which the agents take `_MOST_SHARE`."""
_MOST_SHARE: Final = 0.4
_NODE_SHARES: Final = ((4, 0.25), (4, 0.2), (8, 0.1), (112, 0.06), (float("inf"), 0.02))
"""The memory that a Kubernetes Engine node reserves: a quarter of the first 4 GiB, a fifth of the next 4, and so on."""
_EVICTION_MIB: Final = 100
TPU_MACHINES: Final = {
    ReplicaJobKind.TRAINING_JOB: ("cloud_tpu",),
    ReplicaJobKind.CUSTOM_JOB: ("cloud-tpu", "ct[0-9]*"),
}
"""Patterns of the names of machines with TPUs."""
ATTACHABLE: Final = frozenset(
    {"NVIDIA_TESLA_K80", "NVIDIA_TESLA_P100", "NVIDIA_TESLA_V100", "NVIDIA_TESLA_P4", "NVIDIA_TESLA_T4"}
)
"""Accelerators that can be attached to machines of the series N1, and to no others."""
ATTACHABLE_COUNTS: Final = (1, 2, 4, 8)


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineType:
    """The size of one machine type."""

    name: str
    vcpus: int
    memory_mib: int
    gpus: int = 0
    """That every such machine has."""
    gpu: str = ""
    """Their `acceleratorType`."""
    where: str = ""
    """`custom` for custom jobs only, `legacy` for AI Platform Training's own names; empty for both services."""

    @property
    def takes_accelerators(self) -> bool:
        """True if accelerators can be attached to it."""
        return self.name.startswith("n1-")


@dataclass(frozen=True, kw_only=True, slots=True)
class ScaleTier:
    """The machines of a scale tier of AI Platform Training."""

    master: str
    workers: int = 0
    parameter_servers: int = 0
    parameter_server: str = ""
    accelerator: str = ""
    """Type of the master's one accelerator."""


SCALE_TIERS: Final = {
    "BASIC": ScaleTier(master="n1-standard-4"),
    "STANDARD_1": ScaleTier(master="n1-highcpu-8", workers=4, parameter_servers=3, parameter_server="n1-standard-4"),
    "PREMIUM_1": ScaleTier(master="n1-highcpu-16", workers=19, parameter_servers=11, parameter_server="n1-highmem-8"),
    "BASIC_GPU": ScaleTier(master="n1-standard-8", accelerator="NVIDIA_TESLA_K80"),
}
"""Workers have the master's machine type. CUSTOM has none of its own, and BASIC_TPU is refused."""


@cache
def machine_types() -> dict[str, MachineType]:
    """All machine types by name."""
    with open(_TABLE, encoding="utf-8") as table:
        next(table)
        return {each.name: each for each in map(_row, table)}


def machine_type(name: str, kind: ReplicaJobKind) -> MachineType | None:
    """A machine type of a service; None if it has no such type."""
    found = machine_types().get(name)
    return found if found is not None and _is_offered(found, kind) else None


def offered(kind: ReplicaJobKind) -> list[str]:
    """The names of a service's machine types."""
    return [each.name for each in machine_types().values() if _is_offered(each, kind)]


def has_tpus(name: str, kind: ReplicaJobKind) -> bool:
    """True for a service's machines with TPUs, which its coverage table refuses."""
    return any(fnmatchcase(name, pattern) for pattern in TPU_MACHINES[kind])


def _is_offered(machine: MachineType, kind: ReplicaJobKind) -> bool:
    if machine.where == "tier":
        return False
    return machine.where in {"", "legacy" if kind is ReplicaJobKind.TRAINING_JOB else "custom"}


def container_memory_mib(machine: MachineType) -> int:
    """The memory that is left for a container when the agents of the node have theirs.

    It is known that they take up to 40 % of the smallest machine, n1-standard-4, and a smaller share of larger ones,
    and what a node reserves. Inferred is that the other agents take as much on every machine as they take there beside
    the node's reserve, and never more than 40 % in total.
    """
    others = _MOST_SHARE * _SMALLEST_MIB - _node_reserve_mib(_SMALLEST_MIB)
    reserved = min(_node_reserve_mib(machine.memory_mib) + others, _MOST_SHARE * machine.memory_mib)
    return int(machine.memory_mib - reserved)


def _node_reserve_mib(memory_mib: int) -> float:
    reserve, left = float(_EVICTION_MIB), memory_mib / _GIB
    for size, share in _NODE_SHARES:
        reserve += min(left, size) * share * _GIB
        left -= min(left, size)
    return reserve


def _row(line: str) -> MachineType:
    name, vcpus, memory, gpus, gpu, where = line.rstrip("\n").split(",")
    return MachineType(name=name, vcpus=int(vcpus), memory_mib=int(memory), gpus=int(gpus), gpu=gpu, where=where)
