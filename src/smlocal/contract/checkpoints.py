"""The folder of checkpoints in the container, and what is stored about restored files."""

import posixpath
from collections.abc import Mapping
from dataclasses import field

from smlocal.contract import paths
from smlocal.quick_dataclass import dataclass

UPLOADING = ".sagemaker-uploading"
"""The suffix of files of the service's uploader; they are not checkpoints."""
_NOT_ITS_OWN = (paths.MODEL, paths.OUTPUT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stamp:
    """The state of a file. Writing changes the time, replacing changes the inode."""

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
    """The files that one host was given, to find later which it has changed or deleted."""

    directory: str
    """The folder on this machine."""
    files: Mapping[str, Stamp] = field(default_factory=dict)
    """By path relative to the folder."""


def container_path(local_path: str | None) -> str:
    """LocalPath, normalized, or the default."""
    return "/" + posixpath.normpath(local_path or paths.CHECKPOINTS).lstrip("/")


def folder_key(key: str) -> str:
    """The key with one `/` at its end; empty for the whole bucket."""
    return f"{key.rstrip('/')}/" if key.strip("/") else ""


def is_own_mount(path: str) -> bool:
    """False if the path is in the folder of model or output, which is mounted and packed anyway."""
    return not any(_within(path, folder) for folder in _NOT_ITS_OWN)


def overlap(path: str, other: str, *, whose: str) -> str | None:
    """Why two folders cannot both be mirrored; None if they can. No file may be in both."""
    if path == other:
        return f"It is also the folder of {whose}."
    if _within(path, other):
        return f"It is inside {other}, the folder of {whose}."
    if _within(other, path):
        return f"It contains {other}, the folder of {whose}."
    return None


def unusable(local_path: str | None, *, code: bool) -> str | None:
    """Why checkpoints cannot be at this LocalPath; None if they can. `code`: Local.Code fills `/opt/ml/code`."""
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
