"""Whether jobs can be remembered."""

from smlocal.doctor.interface import Finding, fine, warning
from smlocal.doctor.look import Look
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store

_FAR = {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"}


def check(look: Look) -> Finding:
    """Open it as every command does: the folder and its database are made where they are missing."""
    home = home_directory()
    with Store.open(home) as store, open("/proc/mounts", encoding="utf-8", errors="surrogateescape") as mounts:
        del look
        return judge(store.home, file_system=file_system_of(store.home, mounts.read()))


def judge(home: str, *, file_system: str) -> Finding:
    """Locks and SQLite's shared memory are not to be trusted across a network."""
    if file_system in _FAR:
        return warning(
            f"{home} is on a network file system ({file_system}): two machines must not use it at once",
            "Set SMLOCAL_HOME to a folder of your own on a local disk.",
        )
    return fine(f"{home} can be written")


def file_system_of(path: str, mounts: str) -> str:
    """The type of the file system that a path is on, of the text of /proc/mounts."""
    best, kind = "", ""
    for line in mounts.splitlines():
        _, point, type_, *_ = line.split(" ")
        point = point.encode("latin-1", "surrogateescape").decode("unicode_escape")
        if len(point) >= len(best) and (path + "/").startswith(point.rstrip("/") + "/"):
            best, kind = point, type_
    return kind
