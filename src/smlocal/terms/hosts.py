"""The hosts of a job, whatever its platform."""

from collections.abc import Sequence
from typing import Final

from smlocal.base.quick_dataclass import dataclass

EVERY = -1
"""All GPUs, if their number is not known."""
GROUP = "homogeneousCluster"
"""The group of the hosts of a job without groups."""
_NAMED: Final = 4
"""So many hosts are named one by one in a message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Host:
    """One host."""

    name: str
    number: int
    instance_type: str
    group: str = GROUP
    gpus: int = 0
    """That a machine of its type has; `EVERY`: all that there are."""
    neuron: int = 0
    """Neuron devices that a machine of its type has."""
    vcpus: int = 0
    """Processors of a machine of its type; 0 of this machine, which is not a type."""
    memory_mib: int = 0
    """Its memory; 0 of this machine."""

    @property
    def is_this_machine(self) -> bool:
        """True if its type names no size."""
        return not self.vcpus


def listed(names: Sequence[str]) -> str:
    """All of a few names, or the first and the last."""
    return ", ".join(names) if len(names) <= _NAMED else f"{names[0]} to {names[-1]}"
