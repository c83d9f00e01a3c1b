"""Whether there is enough memory."""

from smlocal.contract.usage import readable_memory
from smlocal.doctor.finding import Finding, fine, warning
from smlocal.doctor.machine import Machine
from smlocal.engine.inspection import EngineDetails

_LOW = 2 << 30


def check(machine: Machine) -> Finding:
    """Of the engine's machine: Docker Desktop's virtual machine has less memory than this one."""
    return judge(machine.details)


def judge(details: EngineDetails) -> Finding:
    """Compare it with the smallest training instance, which has 4 GiB."""
    size = f"{readable_memory(details.memory)} of memory, {details.cpus} CPUs"
    if details.memory < _LOW:
        return warning(f"{size}: the smallest training instance has 4 GiB", "Give the engine's machine more memory.")
    return fine(size)
