"""Whether there is memory to train in."""

from smlocal.doctor.interface import Finding, fine, warning
from smlocal.doctor.look import Look
from smlocal.engine.inspection import EngineDetails
from smlocal.readable import readable_bytes

_LITTLE = 2 << 30


def check(look: Look) -> Finding:
    """Of the engine's machine: that of Docker Desktop is smaller than the one it runs on."""
    return judge(look.details)


def judge(details: EngineDetails) -> Finding:
    """The smallest instance of all has four gibibytes."""
    size = f"{readable_bytes(details.memory)} of memory, {details.cpus} CPUs"
    if details.memory < _LITTLE:
        return warning(f"{size}: the smallest training instance has 4 GiB", "Give the engine's machine more memory.")
    return fine(size)
