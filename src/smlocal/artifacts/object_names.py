"""The objects that a folder becomes in S3, which knows neither folders nor links, and no name that is not UTF-8."""

import posixpath
from collections.abc import Mapping

from smlocal.artifacts.tree import Entry, HostTree
from smlocal.contract import paths
from smlocal.errors import ArtifactError
from smlocal.quick_dataclass import dataclass

_MOST_LINKS = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """One object: its name below the folder's, and the file with its bytes."""

    name: str
    entry: Entry


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """What a folder becomes."""

    objects: tuple[Named, ...]
    notes: tuple[str, ...]


def object_names(tree: HostTree) -> Names:
    """Every file under its own name, and under the name of each link that leads to it.

    A link to anything but a file of this very folder is left out, whatever it says: nothing else may leave this
    machine. `ArtifactError` for a name that no object can have.
    """
    entries = {entry.path: entry for entry in tree.entries}
    parents = {posixpath.dirname(entry.path) for entry in tree.entries}
    objects: list[Named] = []
    notes: list[str] = []
    for entry in tree.entries:
        shown = entry.path.decode(errors="backslashreplace")
        if entry.is_directory:
            if entry.path not in parents:
                notes.append(f"{shown}/ is empty and was not uploaded: S3 has no directories")
            continue
        file = entry if entry.is_file else _led_to(entry, entries)
        if file is None:
            notes.append(f"{shown} is a link to a file outside the model and was not uploaded")
        else:
            objects.append(Named(name=_text(entry.path), entry=file))
    return Names(objects=tuple(objects), notes=tuple(notes))


def _text(path: bytes) -> str:
    try:
        return path.decode()
    except UnicodeDecodeError as error:
        shown = path.decode(errors="backslashreplace")
        raise ArtifactError(f"Artifact upload failed:the name {shown} is not UTF-8, which S3 does not allow") from error


def _led_to(link: Entry, entries: Mapping[bytes, Entry]) -> Entry | None:
    """The file that a link leads to without leaving the folder; a path in the container may do so by its full name."""
    at: list[bytes] = link.path.split(b"/")
    current, pending = at[:-1], [at[-1]]
    links = 0
    while pending:
        step = pending.pop(0)
        if step in {b"", b"."}:
            continue
        if step == b"..":
            if not current:
                return None
            current.pop()
            continue
        found = entries.get(b"/".join([*current, step]))
        if found is None:
            return None
        if found.is_directory:
            current.append(step)
        elif found.is_file:
            return None if any(pending) else found
        else:
            links += 1
            target = _below_model(found.target)
            if target is None or links > _MOST_LINKS:
                return None
            current = [] if found.target.startswith(b"/") else current
            pending = [*target.split(b"/"), *pending]
    return None


def _below_model(target: bytes) -> bytes | None:
    """A link's target relative to where it stands, or to the folder where it is the container's path of one in it."""
    if not target.startswith(b"/"):
        return target
    model = f"{paths.MODEL}/".encode()
    return target[len(model) :] if target.startswith(model) else None
