"""The S3 objects that a folder is uploaded as. S3 has no folders and no links, and its names are UTF-8."""

import posixpath
from collections.abc import Mapping

from smlocal.artifacts.tree import Entry, HostTree
from smlocal.errors import ArtifactError
from smlocal.quick_dataclass import dataclass

_MOST_LINKS = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedObject:
    """One object: its name relative to the folder, and the file with its content."""

    name: str
    entry: Entry


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderObjects:
    """The objects of a folder, and notes on what is not uploaded."""

    objects: tuple[NamedObject, ...]
    notes: tuple[str, ...]


def folder_objects(tree: HostTree, *, original: str) -> FolderObjects:
    """An object for each file, and one for each link to a file of this folder.

    Links to anything else are skipped, so that no other file leaves this machine. `ArtifactError` for a name that an
    object cannot have. `original` is the path that the folder had in the container.
    """
    entries = {entry.path: entry for entry in tree.entries}
    parents = {posixpath.dirname(entry.path) for entry in tree.entries}
    objects: list[NamedObject] = []
    notes: list[str] = []
    for entry in tree.entries:
        shown = entry.path.decode(errors="backslashreplace")
        if entry.is_directory:
            if entry.path not in parents:
                notes.append(f"{shown}/ is empty and was not uploaded: S3 has no directories")
            continue
        file = entry if entry.is_file else _resolve(entry, entries, original)
        if file is None:
            notes.append(f"{shown} is a link to a file outside the model and was not uploaded")
        else:
            objects.append(NamedObject(name=_decode(entry.path), entry=file))
    return FolderObjects(objects=tuple(objects), notes=tuple(notes))


def _decode(path: bytes) -> str:
    try:
        return path.decode()
    except UnicodeDecodeError as error:
        shown = path.decode(errors="backslashreplace")
        raise ArtifactError(f"Artifact upload failed:the name {shown} is not UTF-8, which S3 does not allow") from error


def _resolve(link: Entry, entries: Mapping[bytes, Entry], original: str) -> Entry | None:
    """The file that a link points to; None if it is not in the folder."""
    names = link.path.split(b"/")
    current, pending = names[:-1], [names[-1]]
    links = 0
    while pending:
        name = pending.pop(0)
        if name in {b"", b"."}:
            continue
        if name == b"..":
            if not current:
                return None
            current.pop()
            continue
        found = entries.get(b"/".join([*current, name]))
        if found is None:
            return None
        if found.is_directory:
            current.append(name)
        elif found.is_file:
            return None if any(pending) else found
        else:
            links += 1
            target = _relative_target(found.target, original)
            if target is None or links > _MOST_LINKS:
                return None
            current = [] if found.target.startswith(b"/") else current
            pending = [*target.split(b"/"), *pending]
    return None


def _relative_target(target: bytes, original: str) -> bytes | None:
    """A relative target unchanged, and one below the folder in the container relative to it; None for others."""
    if not target.startswith(b"/"):
        return target
    folder = f"{original}/".encode()
    return target[len(folder) :] if target.startswith(folder) else None
