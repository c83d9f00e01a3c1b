"""The size of instance types."""

import os.path
from functools import cache

from smlocal.contract.hosts import EVERY
from smlocal.quick_dataclass import dataclass

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
