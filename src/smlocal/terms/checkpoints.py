"""Records about the files of mirrored folders, and which folders can be mirrored."""

from collections.abc import Mapping
from dataclasses import field

from smlocal.base.quick_dataclass import dataclass

UPLOADING = ".sagemaker-uploading"
"""The suffix of files of the service's uploader; they are not checkpoints."""


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


def folder_key(key: str) -> str:
    """The key with one `/` at its end; empty for the whole bucket."""
    return f"{key.rstrip('/')}/" if key.strip("/") else ""


def overlap(path: str, other: str, *, whose: str) -> str | None:
    """Why two folders cannot both be mirrored; None if they can. No file may be in both."""
    if path == other:
        return f"It is also the folder of {whose}."
    if within(path, other):
        return f"It is inside {other}, the folder of {whose}."
    if within(other, path):
        return f"It contains {other}, the folder of {whose}."
    return None


def within(path: str, folder: str) -> bool:
    """True if the path is the folder or in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
