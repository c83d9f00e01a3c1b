"""Where checkpoints lie in the container, and what is remembered of those that were put there."""

import posixpath
from collections.abc import Mapping
from dataclasses import field

from smlocal.contract import paths
from smlocal.quick_dataclass import dataclass

UPLOADING = ".sagemaker-uploading"
"""What names the service's uploader gives its own files; no checkpoint ends so."""
_NOT_ITS_OWN = (paths.MODEL, paths.OUTPUT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stamp:
    """What the file system says of a file. Whoever writes into it changes the time, who replaces it the inode."""

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
    """What one host was given, to tell later what it has changed and deleted."""

    directory: str
    """The folder here that the container sees."""
    files: Mapping[str, Stamp] = field(default_factory=dict)
    """By path below the folder."""


def container_path(local_path: str | None) -> str:
    """LocalPath without the ways of spelling it, or the default."""
    return "/" + posixpath.normpath(local_path or paths.CHECKPOINTS).lstrip("/")


def folder_key(key: str) -> str:
    """What the keys of a prefix begin with, which always names a folder."""
    return f"{key.rstrip('/')}/" if key.strip("/") else ""


def is_own_mount(path: str) -> bool:
    """False where the checkpoints are a part of a folder that is mounted anyway, and of what is packed from it."""
    return not any(_within(path, folder) for folder in _NOT_ITS_OWN)


def overlap(path: str, other: str, *, whose: str) -> str | None:
    """Why one folder of a container cannot be mirrored beside another: a file would belong to both."""
    if path == other:
        return f"It is also the folder of {whose}."
    if _within(path, other):
        return f"It is inside {other}, the folder of {whose}."
    if _within(other, path):
        return f"It contains {other}, the folder of {whose}."
    return None


def unusable(local_path: str | None, *, code: bool) -> str | None:
    """Why checkpoints cannot lie at this LocalPath; `code` says that `/opt/ml/code` is filled."""
    if local_path is not None and (not local_path.startswith("/") or "\0" in local_path):
        return "It is not an absolute path."
    path = container_path(local_path)
    if _within(path, paths.INPUT):
        return f"{paths.INPUT} is for the channels and the configuration."
    if any(_within(folder, path) for folder in (paths.INPUT, *_NOT_ITS_OWN) if folder != path):
        return "It would hide the other folders of the job."
    if _within(path, paths.FAILURE):
        return "It is the failure file of the algorithm."
    if code and path == paths.CODE:
        return "Local.Code uses this folder."
    return None


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
