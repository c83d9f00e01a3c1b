"""How much of /dev/shm a container gets."""

from smlocal.doctor.interface import Finding, fine, unknown, warning
from smlocal.doctor.look import Look
from smlocal.doctor.trial import Trial
from smlocal.readable import readable_bytes

_USUAL = 60 << 20
"""Docker gives 64 MiB, Podman as many MB."""


def check(look: Look) -> Finding:
    """Look at the container of the trial."""
    return judge(look.trial)


def judge(trial: Trial) -> Finding:
    """What the service gives is not known; docker's own default is what is promised here."""
    if trial.container_trouble is not None:
        return unknown("not checked: cannot start a container")
    size = readable_bytes(trial.shared_memory)
    if trial.shared_memory < _USUAL:
        return warning(
            f"containers get {size} of /dev/shm, less than Docker's default of 64 MiB: data loaders may fail",
            'Docker: "default-shm-size": "64M" in daemon.json. Podman: shm_size in containers.conf. Then restart it.',
        )
    return fine(f"containers get {size} of /dev/shm")
