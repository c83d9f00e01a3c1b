"""Folders of finished files: made, sealed, and looked at again before somebody relies on them.

A file that is complete has the service's mode and a time of whole seconds. Whoever writes into it later gives it a time
with a fraction, so that one look at its metadata tells a file that is as it was from one that is not.
"""

import os
import stat
from collections.abc import Iterable, Mapping

from smlocal.channels.duplicate import FILE_MODE

DIRECTORY_MODE = 0o755
_FILE, _FOLDER = stat.S_IFREG | FILE_MODE, stat.S_IFDIR | DIRECTORY_MODE
_SECOND = 1_000_000_000


def folders_of(paths: Iterable[str], directories: Iterable[str] = ()) -> list[str]:
    """Every folder that these files need, and these folders, each after the one it lies in."""
    found: dict[str, None] = {}
    for below in dict.fromkeys([*(path.rpartition("/")[0] for path in paths), *directories]):
        parts = below.split("/") if below else []
        for depth in range(1, len(parts) + 1):
            found["/".join(parts[:depth])] = None
    return list(found)


def make_folders(root: str, folders: Iterable[str]) -> None:
    """Make the new folder `root` and those below it."""
    for path in (root, *(f"{root}/{folder}" for folder in folders)):
        os.mkdir(path)
        os.chmod(path, DIRECTORY_MODE)  # whatever the umask


def seal(path: str) -> None:
    """Mark a file as complete."""
    os.chmod(path, FILE_MODE)
    now = os.lstat(path).st_mtime_ns // _SECOND * _SECOND
    os.utime(path, ns=(now, now))


def sound(status: os.stat_result, size: int) -> bool:
    """True for a complete file of that size which nobody has touched."""
    return status.st_size == size and status.st_mode == _FILE and status.st_mtime_ns % _SECOND == 0


def intact(root: str, sizes: Mapping[str, int], folders: Iterable[str]) -> bool:
    """True when below `root` are these files and folders, as they were sealed, and nothing else."""
    missing = {"", *folders}
    waiting, files = [""], 0
    try:
        if os.lstat(root).st_mode != _FOLDER:
            return False
        while waiting:
            below = waiting.pop()
            missing.discard(below)
            start = f"{below}/" if below else ""
            with os.scandir(f"{root}/{below}") as entries:
                for entry in entries:
                    path, status = f"{start}{entry.name}", entry.stat(follow_symlinks=False)
                    if status.st_mode == _FILE:
                        if status.st_size != sizes.get(path) or status.st_mtime_ns % _SECOND:
                            return False
                        files += 1
                    elif path in missing and status.st_mode == _FOLDER:
                        waiting.append(path)
                    else:
                        return False
    except OSError:
        return False
    return files == len(sizes) and not missing
