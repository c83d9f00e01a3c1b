"""What an instance type has, as far as a container can notice."""

import os.path
from dataclasses import dataclass
from functools import cache

_TABLE = os.path.join(os.path.dirname(__file__), "instance_types.csv")


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceType:
    """The size of one instance type."""

    name: str
    vcpus: int
    memory_mib: int
    gpus: int


@cache
def instance_type(name: str) -> InstanceType:
    """The size of an instance type that validation has let pass; the table has a row for each of those."""
    with open(_TABLE, encoding="utf-8") as table:
        for line in table:
            if line.startswith(f"{name},"):
                _, vcpus, memory, gpus, *_ = line.split(",")
                return InstanceType(name=name, vcpus=int(vcpus), memory_mib=int(memory), gpus=int(gpus))
    raise LookupError(name)
