"""Whether the engine's storage driver is one to work with."""

from smlocal.doctor.interface import Finding, fine, warning
from smlocal.doctor.look import Look

_SLOW = {
    "vfs": "copies every layer whole: large images take minutes and many times their size",
    "fuse-overlayfs": "goes through a process of its own: many small files are slow",
    "aufs": "is no longer maintained",
    "devicemapper": "is no longer maintained",
}


def check(look: Look) -> Finding:
    """Ask which."""
    return judge(look.details.storage_driver)


def judge(driver: str) -> Finding:
    """Every driver works; some are slow."""
    for name, why in _SLOW.items():
        if driver == name:
            return warning(f"the storage driver {driver} {why}", 'Set "storage-driver": "overlay2" in daemon.json.')
    return fine(f"storage driver {driver or 'not told'}")
