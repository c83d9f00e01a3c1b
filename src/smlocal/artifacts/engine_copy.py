"""Copy a host's directory through the engine, if this user cannot read it.

Nothing is unpacked under the names that the container chose: the content of each file is stored in a private folder
under a number. Names, modes and links are only kept as data of an entry. So no name can point outside the folder, and
files of mode 000 are copied too.
"""

import io
import os
import stat
from collections.abc import Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING

from smlocal.artifacts.artifact_errors import artifact_errors
from smlocal.artifacts.tree import Entry, HostTree, in_order, skipped_note, walk
from smlocal.errors import ArtifactError, EngineError
from smlocal.quick_dataclass import dataclass
from smlocal.removal import remove_tree

if TYPE_CHECKING:
    import tarfile

    from _typeshed import WriteableBuffer

    from smlocal.engine.interface import Engine

_PIECE = 1 << 20
_NOT_FOUND = 404


def read_or_copy(
    host: str, directory: str, *, engine: "Engine", container: str, path: str, copy_to: str, shared: bool = True
) -> HostTree:
    """The tree of `directory`. If this user cannot read it, the container's `path` is copied to the folder `copy_to`.

    `shared` is False if the container is on an engine that does not see the folders of this machine.
    """
    if not shared:
        return _copy(host, engine, container, path, copy_to)
    try:
        return walk(host, directory)
    except PermissionError:
        return _copy(host, engine, container, path, copy_to)
    except OSError as error:
        raise ArtifactError(f"Artifact upload failed:{error.strerror}", details=[directory]) from error


def _copy(host: str, engine: "Engine", container: str, path: str, copy_to: str) -> HostTree:
    try:
        return unpack_copy(host, engine.get_archive(container, path), copy_to)
    except EngineError as error:
        if error.status != _NOT_FOUND or "no such container" in error.sentence.lower():
            raise
        return HostTree(host=host, root=os.fsencode(copy_to), entries=())  # the container deleted the directory


def unpack_copy(host: str, archive: Iterator[bytes], copy_to: str) -> HostTree:
    """The tree of a tar stream whose members are all in one directory; the contents of files go to `copy_to`."""
    import tarfile  # rarely needed

    copy = _Copy(host=host, folder=os.fsencode(copy_to))
    with artifact_errors():
        remove_tree(copy_to)  # a killed process may have left a part of it
        os.makedirs(copy_to, mode=0o700)
        try:
            with tarfile.open(
                fileobj=io.BufferedReader(_ArchiveFile(iter(archive)), _PIECE),
                mode="r|",
                bufsize=_PIECE,
                encoding="utf-8",
                errors="surrogateescape",  # keeps the bytes of names that are not UTF-8
            ) as members:
                for member in members:
                    copy.add(member, members)
        except tarfile.TarError as error:
            raise ArtifactError(
                "Artifact upload failed:the engine's copy of the files is broken", details=[f"{host}: {error}"]
            ) from error
    return HostTree(
        host=host, root=copy.folder, entries=in_order(copy.entries.values()), skipped=tuple(sorted(copy.skipped))
    )


@dataclass(kw_only=True, slots=True)
class _Copy:
    """What was read from the stream so far."""

    host: str
    folder: bytes
    entries: dict[bytes, Entry] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    top: str | None = None
    """The directory that contains all members. For a mount point, Podman gives it no name: `/`, `/d`, `/d/f`."""

    def add(self, member: "tarfile.TarInfo", members: "tarfile.TarFile") -> None:
        """Store one member."""
        path = self._relative_path(member.name)
        if path == b"":
            return
        if path is None:
            self.skipped.append(f"{self.host}: {member.name!r} has an unsafe path and was skipped")
            return
        mtime = int(member.mtime // 1)
        if member.isdir():
            self.entries[path] = Entry(path=path, mode=stat.S_IFDIR | member.mode, mtime=mtime)
        elif member.issym():
            target = os.fsencode(member.linkname)
            self.entries[path] = Entry(path=path, mode=stat.S_IFLNK | 0o777, mtime=mtime, target=target)
        elif member.islnk():
            first = self.entries.get(self._relative_path(member.linkname) or b"")
            if first is None:
                self.skipped.append(skipped_note(self.host, path, "a hard link to an unknown file"))
            else:
                self.entries[first.path] = first = replace(first, inode=first.data)
                self.entries[path] = replace(first, path=path)
        elif member.isreg():
            data = b"%d" % len(self.entries)
            _write_content(members, member, os.path.join(self.folder, data))
            mode = stat.S_IFREG | member.mode
            self.entries[path] = Entry(path=path, mode=mode, mtime=mtime, size=member.size, data=data)
        else:
            self.skipped.append(skipped_note(self.host, path, "a FIFO" if member.isfifo() else "a device"))

    def _relative_path(self, name: str) -> bytes | None:
        """The path relative to the top directory; None if it is outside."""
        top, *parts = name.rstrip("/").split("/")
        if self.top is None:
            self.top = top
        if top != self.top or top in {".", ".."} or any(part in {"", ".", ".."} for part in parts):
            return None
        return os.fsencode("/".join(parts))


def _write_content(members: "tarfile.TarFile", member: "tarfile.TarInfo", path: bytes) -> None:
    source = members.extractfile(member)
    if source is None:
        raise ArtifactError("Artifact upload failed:the engine's copy of the files is broken", details=[member.name])
    with source, open(path, "xb", buffering=0, opener=_open_private) as file:
        while piece := source.read(_PIECE):
            rest = memoryview(piece)
            while rest:
                rest = rest[file.write(rest) :]


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class _ArchiveFile(io.RawIOBase):
    """The pieces of an archive as a file object."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Required by `BufferedReader`."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read the rest of the current piece, or the next one."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        output = memoryview(buffer)
        count = min(len(output), len(self._rest))
        output[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
