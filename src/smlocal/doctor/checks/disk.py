"""Whether there is enough space on the disks."""

from collections.abc import Mapping

from smlocal.base.files import free_bytes
from smlocal.doctor.finding import Finding, fine, problem, warning
from smlocal.doctor.machine import Machine
from smlocal.readable import readable_bytes

_FULL = 64 << 20
"""With less, even the record of a job may not fit."""
_LOW = 10 << 30
"""The size of a framework's image."""


def check(machine: Machine) -> Finding:
    """Of the home, and of the engine's folder if the engine runs on this machine."""
    places = {"SMLOCAL_HOME": machine.home}
    if machine.engine_error is None and machine.endpoint.local:
        places["the engine"] = machine.details.root
    return judge({f"{path} ({name})": free for name, path in places.items() if (free := free_bytes(path)) is not None})


def judge(free: Mapping[str, int]) -> Finding:
    """The disk with the least free space decides."""
    if not free:
        return warning("no disk could be checked", "Set SMLOCAL_HOME to a folder of your own on a local disk.")
    place, least = min(free.items(), key=lambda item: item[1])
    sentence = f"{readable_bytes(least)} free at {place}"
    if least < _FULL:
        return problem(sentence, "Free some space there:  smlocal rm, smlocal cache rm --all, docker system df")
    if least < _LOW:
        return warning(f"{sentence}: images and datasets may not fit", "Free some:  smlocal cache rm, docker system df")
    return fine("; ".join(f"{readable_bytes(size)} free at {place}" for place, size in free.items()))
