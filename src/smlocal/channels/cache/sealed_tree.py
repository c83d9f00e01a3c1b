"""Folders of sealed files, and the check that nobody has changed them.

A sealed file is complete: it has the service's mode and a modification time of whole seconds. Writing to it later gives
it a time with a fraction, so its metadata show whether it is unchanged.
"""

import os
import stat
from collections.abc import Iterable, Mapping

from smlocal.channels.duplicate import FILE_MODE

DIRECTORY_MODE = 0o755
_FILE, _FOLDER = stat.S_IFREG | FILE_MODE, stat.S_IFDIR | DIRECTORY_MODE
_SECOND = 1_000_000_000


def folders_of(paths: Iterable[str], directories: Iterable[str] = ()) -> list[str]:
    """Every folder that these files need, and these folders; parents first."""
    found: dict[str, None] = {}
    for below in dict.fromkeys([*(path.rpartition("/")[0] for path in paths), *directories]):
        parts = below.split("/") if below else []
        for depth in range(1, len(parts) + 1):
            found["/".join(parts[:depth])] = None
    return list(found)


def make_folders(root: str, folders: Iterable[str]) -> None:
    """Make the new folder `root` and these folders below it."""
    for path in (root, *(f"{root}/{folder}" for folder in folders)):
        os.mkdir(path)
        os.chmod(path, DIRECTORY_MODE)  # whatever the umask


def seal(path: str) -> None:
    """Mark a file as complete."""
    os.chmod(path, FILE_MODE)
    now = os.lstat(path).st_mtime_ns // _SECOND * _SECOND
    os.utime(path, ns=(now, now))


def is_sealed(status: os.stat_result, size: int) -> bool:
    """True for a sealed file of this size that nobody has changed."""
    return status.st_size == size and status.st_mode == _FILE and status.st_mtime_ns % _SECOND == 0


def is_intact(root: str, sizes: Mapping[str, int], folders: Iterable[str]) -> bool:
    """True if exactly these files and folders are below `root`, unchanged since they were sealed."""
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
