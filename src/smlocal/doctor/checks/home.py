"""Whether jobs can be stored."""

from smlocal.doctor.finding import Finding, fine, warning
from smlocal.doctor.machine import Machine
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store

_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"}


def check(machine: Machine) -> Finding:
    """Open the home as every command does, which creates the folder and its database if they are missing."""
    home = home_directory()
    del machine
    with Store.open(home) as store:
        return judge(store.home, file_system=file_system_of(store.home, _mounts()))


def _mounts() -> str:
    """The kernel's table; empty on systems without it."""
    try:
        with open("/proc/mounts", encoding="utf-8", errors="surrogateescape") as mounts:
            return mounts.read()
    except OSError:
        return ""


def judge(home: str, *, file_system: str) -> Finding:
    """Locks and SQLite's shared memory do not work reliably across a network."""
    if file_system in _NETWORK:
        return warning(
            f"{home} is on a network file system ({file_system}): two machines must not use it at once",
            "Set SMLOCAL_HOME to a folder of your own on a local disk.",
        )
    return fine(f"{home} can be written")


def file_system_of(path: str, mounts: str) -> str:
    """The type of the file system that a path is on. `mounts` is the text of /proc/mounts."""
    best, kind = "", ""
    for line in mounts.splitlines():
        _, point, type_, *_ = line.split(" ")
        point = point.encode("latin-1", "surrogateescape").decode("unicode_escape")
        if len(point) >= len(best) and (path + "/").startswith(point.rstrip("/") + "/"):
            best, kind = point, type_
    return kind
