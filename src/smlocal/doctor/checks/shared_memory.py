"""The size of /dev/shm in a container."""

from smlocal.doctor.finding import Finding, fine, unknown, warning
from smlocal.doctor.machine import Machine
from smlocal.doctor.trial import Trial
from smlocal.readable import readable_bytes

_DEFAULT = 60 << 20
"""Docker's default is 64 MiB, Podman's 64 MB."""


def check(machine: Machine) -> Finding:
    """Read it from the container of the trial."""
    return judge(machine.trial)


def judge(trial: Trial) -> Finding:
    """Compare it with Docker's default. What the service has is not known."""
    if trial.container_error is not None:
        return unknown("not checked: cannot start a container")
    size = readable_bytes(trial.shared_memory)
    if trial.shared_memory < _DEFAULT:
        return warning(
            f"containers get {size} of /dev/shm, less than Docker's default of 64 MiB: data loaders may fail",
            'Docker: "default-shm-size": "64M" in daemon.json. Podman: shm_size in containers.conf. Then restart it.',
        )
    return fine(f"containers get {size} of /dev/shm")
