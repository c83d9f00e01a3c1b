"""Keep the folders of a job that could not be packed, until `smlocal pack`.

A folder is kept as it is. In a copy that was made through the engine, files are named by numbers; an index next to it
has the names, modes and links.
"""

import json
import os
from typing import Any

from smlocal.artifacts.artifact_errors import artifact_errors
from smlocal.artifacts.model_folder import write_model_folder
from smlocal.artifacts.tree import Entry, HostTree, walk
from smlocal.errors import ArtifactError

INDEX = ".json"
"""The name of an index is that of its folder and this suffix."""
_FIELDS = ("path", "mode", "mtime", "size", "target", "data", "inode")


def write_index(tree: HostTree) -> None:
    """Write the index of a tree that was copied through the engine."""
    rows = [[_to_json(getattr(entry, field)) for field in _FIELDS] for entry in tree.entries]
    with open(os.fsdecode(tree.root) + INDEX, "w", encoding="ascii") as file:
        json.dump({"Entries": rows, "Skipped": tree.skipped}, file)


def keep_folder(source: str, destination: str) -> None:
    """Move a folder, and its index if there is one, to `destination`; `ArtifactError` if that fails.

    Nothing is done for a folder that is empty or was moved already. A folder on another disk is copied.
    """
    with artifact_errors(destination):
        indexed = os.path.exists(source + INDEX)
        if not os.path.lexists(destination) and (indexed or not _is_empty(source)):
            parent = os.path.dirname(destination)
            os.makedirs(parent, mode=0o700, exist_ok=True)
            if os.lstat(source).st_dev == os.stat(parent).st_dev:
                os.rename(source, destination)
            else:
                write_model_folder([walk("", source)], destination)
        if indexed:  # at the end: after a crash, the index still says that the folder has to be moved
            os.rename(source + INDEX, destination + INDEX)


def read_kept_folder(host: str, path: str) -> HostTree:
    """The files of one kept folder of a host; `ArtifactError` if it cannot be read."""
    try:
        with open(path + INDEX, encoding="ascii") as file:
            index = json.load(file)
    except FileNotFoundError:
        return _without_index(host, path)
    except (OSError, ValueError) as error:
        raise ArtifactError("Artifact upload failed:the index cannot be read", details=[f"{path}: {error}"]) from error
    entries = [Entry(**dict(zip(_FIELDS, map(_from_json, row), strict=True))) for row in index["Entries"]]
    return HostTree(host=host, root=os.fsencode(path), entries=tuple(entries), skipped=tuple(index["Skipped"]))


def _without_index(host: str, path: str) -> HostTree:
    try:
        return walk(host, path)
    except FileNotFoundError:  # nothing was kept
        return HostTree(host=host, root=os.fsencode(path), entries=())
    except OSError as error:
        raise ArtifactError(f"Artifact upload failed:{error.strerror}", details=[path]) from error


def _is_empty(path: str) -> bool:
    """True for a folder without entries, and for what is not a folder."""
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except (FileNotFoundError, NotADirectoryError):
        return True


def _to_json(value: bytes | int) -> str | int:
    return os.fsdecode(value) if isinstance(value, bytes) else value


def _from_json(value: str | int) -> Any:
    return os.fsencode(value) if isinstance(value, str) else value
