"""Whether there is room on the disks."""

import os
from collections.abc import Mapping

from smlocal.doctor.interface import Finding, fine, problem, warning
from smlocal.doctor.look import Look
from smlocal.readable import readable_bytes

_NONE = 64 << 20
"""Less than that, and not even the record of a job is sure to fit."""
_LITTLE = 10 << 30
"""A framework's image takes as much."""


def check(look: Look) -> Finding:
    """Of the home, and of the engine's folder where it is on this machine."""
    places = {"SMLOCAL_HOME": look.home}
    if look.engine_trouble is None and look.endpoint.local:
        places["the engine"] = look.details.root
    return judge({f"{path} ({name})": free for name, path in places.items() if (free := free_bytes(path)) is not None})


def judge(free: Mapping[str, int]) -> Finding:
    """The fullest disk decides."""
    if not free:
        return warning("no disk could be checked", "Set SMLOCAL_HOME to a folder of your own on a local disk.")
    place, least = min(free.items(), key=lambda item: item[1])
    sentence = f"{readable_bytes(least)} free at {place}"
    if least < _NONE:
        return problem(sentence, "Free some space there:  smlocal rm, smlocal cache rm --all, docker system df")
    if least < _LITTLE:
        return warning(f"{sentence}: images and datasets may not fit", "Free some:  smlocal cache rm, docker system df")
    return fine("; ".join(f"{readable_bytes(size)} free at {place}" for place, size in free.items()))


def free_bytes(path: str) -> int | None:
    """What this user may still write where a path is, or would be; None where that cannot be told."""
    while path and not os.path.exists(path) and path != "/":
        path = os.path.dirname(path)
    try:
        disk = os.statvfs(path)
    except OSError:
        return None
    return disk.f_bavail * disk.f_frsize
