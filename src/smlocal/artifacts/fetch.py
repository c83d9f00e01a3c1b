"""A host's directory that this user may not read, brought here through the engine.

Nothing is unpacked under the names the container chose: the bytes of each file go into a private folder under a number,
and names, modes and links stay what they are in the stream, facts about an entry. So no name can lead anywhere, and a
file of mode 000 is no obstacle.
"""

import io
import os
import stat
from collections.abc import Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING

from smlocal.artifacts.tree import Entry, HostTree, in_order, left_out, walk
from smlocal.artifacts.write_errors import explained
from smlocal.errors import ArtifactError, EngineError
from smlocal.quick_dataclass import dataclass
from smlocal.removal import remove_tree

if TYPE_CHECKING:
    import tarfile

    from _typeshed import WriteableBuffer

    from smlocal.engine.interface import Engine

_PIECE = 1 << 20
_NOT_FOUND = 404


def host_tree(
    host: str, directory: str, *, engine: "Engine", container: str, path: str, spool: str, here: bool = True
) -> HostTree:
    """The tree of `directory`, read in place, or fetched as the container's `path` into `spool` where denied.

    `here` is False for what lies on another machine.
    """
    if not here:
        return _fetched(host, engine, container, path, spool)
    try:
        return walk(host, directory)
    except PermissionError:
        return _fetched(host, engine, container, path, spool)
    except OSError as error:
        raise ArtifactError(f"Artifact upload failed:{error.strerror}", details=[directory]) from error


def _fetched(host: str, engine: "Engine", container: str, path: str, spool: str) -> HostTree:
    try:
        return fetch(host, engine.get_archive(container, path), spool)
    except EngineError as error:
        if error.status != _NOT_FOUND or "no such container" in error.sentence.lower():
            raise
        # Out of our sight the container has deleted the folder: nothing was written.
        return HostTree(host=host, root=os.fsencode(spool), entries=())


def fetch(host: str, archive: Iterator[bytes], spool: str) -> HostTree:
    """The tree of a tar stream whose members all lie below one top directory; file contents go into `spool`."""
    import tarfile  # only where reading in place is denied

    found = _Found(host=host, spool=os.fsencode(spool))
    with explained():
        remove_tree(spool)  # another process may have begun, and died of it
        os.makedirs(spool, mode=0o700)
        try:
            # errors: names that are not UTF-8 come back as the bytes they were
            with tarfile.open(
                fileobj=io.BufferedReader(_Stream(iter(archive)), _PIECE),
                mode="r|",
                bufsize=_PIECE,
                encoding="utf-8",
                errors="surrogateescape",
            ) as members:
                for member in members:
                    _keep(member, members, found)
        except tarfile.TarError as error:
            raise ArtifactError(
                "Artifact upload failed:the engine's copy of the files is broken", details=[f"{host}: {error}"]
            ) from error
    return HostTree(
        host=host,
        root=found.spool,
        entries=in_order(list(found.entries.values())),
        skipped=tuple(sorted(found.skipped)),
    )


@dataclass(kw_only=True, slots=True)
class _Found:
    """What the stream has held so far."""

    host: str
    spool: bytes
    entries: dict[bytes, Entry] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    top: str | None = None
    """The directory that all lies in. Where something is mounted on it, Podman gives it no name: `/`, `/d`, `/d/f`."""

    def below_top(self, name: str) -> bytes | None:
        """The name below the stream's top directory; None for one that leads out of it."""
        top, *parts = name.rstrip("/").split("/")
        if self.top is None:
            self.top = top
        if top != self.top or top in {".", ".."} or any(part in {"", ".", ".."} for part in parts):
            return None
        return os.fsencode("/".join(parts))


def _keep(member: "tarfile.TarInfo", members: "tarfile.TarFile", found: _Found) -> None:
    host, entries, skipped = found.host, found.entries, found.skipped
    path = found.below_top(member.name)
    if path == b"":
        return
    if path is None:
        skipped.append(f"{host}: {member.name!r} has an unsafe path and was skipped")
        return
    mtime = int(member.mtime // 1)
    if member.isdir():
        entries[path] = Entry(path=path, mode=stat.S_IFDIR | member.mode, mtime=mtime)
    elif member.issym():
        entries[path] = Entry(path=path, mode=stat.S_IFLNK | 0o777, mtime=mtime, target=os.fsencode(member.linkname))
    elif member.islnk():
        first = entries.get(found.below_top(member.linkname) or b"")
        if first is None:
            skipped.append(f"{host}: {os.fsdecode(path)} is a hard link to an unknown file and was skipped")
        else:
            entries[first.path] = first = replace(first, inode=first.data)
            entries[path] = replace(first, path=path)
    elif member.isreg():
        data = b"%d" % len(entries)
        _spool_file(members, member, os.path.join(found.spool, data))
        entries[path] = Entry(path=path, mode=stat.S_IFREG | member.mode, mtime=mtime, size=member.size, data=data)
    else:
        kind = "a FIFO" if member.isfifo() else "a device"
        skipped.append(left_out(host, path, kind))


def _spool_file(members: "tarfile.TarFile", member: "tarfile.TarInfo", path: bytes) -> None:
    source = members.extractfile(member)
    if source is None:
        raise ArtifactError("Artifact upload failed:the engine's copy of the files is broken", details=[member.name])
    with source, open(path, "xb", buffering=0, opener=_private) as file:
        while piece := source.read(_PIECE):
            rest = memoryview(piece)
            while rest:
                rest = rest[file.write(rest) :]


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class _Stream(io.RawIOBase):
    """The pieces of an archive as a file to read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """For the buffer around it."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """What is left of a piece, or the next one."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        room = memoryview(buffer)
        count = min(len(room), len(self._rest))
        room[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
