"""Folders that could not be packed and are kept until they can be.

One that lies here is kept as it is. Of one that was brought through the engine the bytes lie under numbers: an index
beside them has the names, modes and links, and all of it is packed as if it had just been brought.
"""

import json
import os
from typing import Any

from smlocal.artifacts.publish import publish
from smlocal.artifacts.tree import Entry, HostTree, walk
from smlocal.artifacts.write_errors import explained
from smlocal.errors import ArtifactError

INDEX = ".json"
"""What the name of an index has more than that of its folder."""
_FIELDS = ("path", "mode", "mtime", "size", "target", "data", "inode")


def write_index(tree: HostTree) -> None:
    """Note beside the bytes of a tree that was brought through the engine what they are."""
    rows = [[_text(getattr(entry, field)) for field in _FIELDS] for entry in tree.entries]
    with open(os.fsdecode(tree.root) + INDEX, "w", encoding="ascii") as file:
        json.dump({"Entries": rows, "Skipped": tree.skipped}, file)


def move(source: str, destination: str) -> None:
    """Keep the folder at `source`, with its index if it has one; what is empty, or was moved already, is fine.

    On a disk of its own it can only be copied. `ArtifactError` when it cannot be kept.
    """
    with explained(destination):
        indexed = os.path.exists(source + INDEX)
        if not os.path.lexists(destination) and (indexed or not _is_empty(source)):
            above = os.path.dirname(destination)
            os.makedirs(above, mode=0o700, exist_ok=True)
            if os.lstat(source).st_dev == os.stat(above).st_dev:
                os.rename(source, destination)
            else:
                publish([walk("", source)], destination)
        if indexed:  # last, so that whoever comes after a crash finds what is to be moved
            os.rename(source + INDEX, destination + INDEX)


def kept_tree(host: str, path: str) -> HostTree:
    """What was kept of one folder of a host; `ArtifactError` when it cannot be read."""
    try:
        with open(path + INDEX, encoding="ascii") as file:
            index = json.load(file)
    except FileNotFoundError:
        return _walked(host, path)
    except (OSError, ValueError) as error:
        raise ArtifactError("Artifact upload failed:the index cannot be read", details=[f"{path}: {error}"]) from error
    entries = [Entry(**dict(zip(_FIELDS, map(_value, row), strict=True))) for row in index["Entries"]]
    return HostTree(host=host, root=os.fsencode(path), entries=tuple(entries), skipped=tuple(index["Skipped"]))


def _walked(host: str, path: str) -> HostTree:
    try:
        return walk(host, path)
    except FileNotFoundError:  # nothing was there to be kept
        return HostTree(host=host, root=os.fsencode(path), entries=())
    except OSError as error:
        raise ArtifactError(f"Artifact upload failed:{error.strerror}", details=[path]) from error


def _is_empty(path: str) -> bool:
    """True for what holds no file: a folder without entries, or nothing at all."""
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except (FileNotFoundError, NotADirectoryError):
        return True


def _text(value: bytes | int) -> str | int:
    return os.fsdecode(value) if isinstance(value, bytes) else value


def _value(value: str | int) -> Any:
    return os.fsencode(value) if isinstance(value, str) else value
