"""Whether the engine's storage driver is suitable."""

from smlocal.doctor.finding import Finding, fine, warning
from smlocal.doctor.machine import Machine
from smlocal.engine.inspection import EngineDetails

_SLOW = {
    "vfs": "copies every layer: large images take minutes and many times their size",
    "fuse-overlayfs": "is a FUSE file system: many small files are slow",
    "aufs": "is no longer maintained",
    "devicemapper": "is no longer maintained",
}


def check(machine: Machine) -> Finding:
    """Read which one it is."""
    return judge(machine.details)


def judge(details: EngineDetails) -> Finding:
    """Every driver works, but some are slow."""
    driver = details.storage_driver
    if driver not in _SLOW:
        return fine(f"storage driver {driver or 'unknown'}")
    remedy = 'Set "storage-driver": "overlay2" in daemon.json.'
    if details.product == "Podman":
        folder = "~/.config" if details.rootless else "/etc"
        remedy = (
            f'Set driver = "overlay" below [storage] in {folder}/containers/storage.conf, then: podman system reset, '
            "which removes all images and containers"
        )
    return warning(f"the storage driver {driver} {_SLOW[driver]}", remedy)
