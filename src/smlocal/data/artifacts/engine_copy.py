"""Copy a host's directory through the engine, if this user cannot read it.

Nothing is unpacked under the names that the container chose: the content of each file is stored in a private folder
under a number. Names, modes and links are only kept as data of an entry. So no name can point outside the folder, and
files of mode 000 are copied too.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import field, replace

from smlocal.base.foreign_archive.archive import ArchiveLimits, ForeignArchive
from smlocal.base.foreign_archive.stream import ArchiveError
from smlocal.base.foreign_archive.tar_entries import TarEntry
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.removal import remove_tree
from smlocal.data.artifacts.artifact_errors import Check, PackingStoppedError, artifact_errors, no_check
from smlocal.data.artifacts.model_folder import write_index
from smlocal.data.artifacts.tree import Entry, HostTree, in_order, skipped_note, walk
from smlocal.engine.interface import Engine
from smlocal.errors import ArtifactError, EngineError

_NO_LIMIT = 1 << 62
_NOT_FOUND = 404


def read_or_copy(
    host: str,
    directory: str,
    *,
    engine: "Engine",
    container: str,
    path: str,
    copy_to: str,
    shared: bool = True,
    check: Check = no_check,
) -> HostTree:
    """The tree of `directory`. If this user cannot read it, the container's `path` is copied to the folder `copy_to`.

    `shared` is False if the container is on an engine that does not see the folders of this machine. `check` is called
    between pieces and may raise. If the copy is the only one, its complete files are kept then, with an index.
    """
    if not shared:
        return _copy(host, engine, container, path, copy_to, check=check, keep=True)
    try:
        return walk(host, directory, check=check)
    except PermissionError:
        return _copy(host, engine, container, path, copy_to, check=check, keep=False)
    except OSError as error:
        raise ArtifactError(f"Artifact upload failed:{error.strerror}", details=[directory]) from error


def _copy(
    host: str, engine: "Engine", container: str, path: str, copy_to: str, *, check: Check, keep: bool
) -> HostTree:
    try:
        return unpack_copy(host, engine.get_archive(container, path), copy_to, check=check, keep=keep)
    except EngineError as error:
        if error.status != _NOT_FOUND or "no such container" in error.sentence.lower():
            raise
        return HostTree(host=host, root=os.fsencode(copy_to), entries=())  # the container deleted the directory


def unpack_copy(
    host: str, archive: Iterator[bytes], copy_to: str, *, check: Check = no_check, keep: bool = False
) -> HostTree:
    """The tree of a tar stream whose members are all in one directory; the contents of files go to `copy_to`.

    If `check` stops it and `keep` is True, an index of the files that are complete is written.
    """
    copy = _Copy(host=host, folder=os.fsencode(copy_to))
    with artifact_errors():
        remove_tree(copy_to)  # a killed process may have left a part of it
        os.makedirs(copy_to, mode=0o700)
        try:
            # As many files as a job has: only what a header may be is limited.
            limits = ArchiveLimits(members=_NO_LIMIT, names=_NO_LIMIT, content=_NO_LIMIT, headers=_NO_LIMIT)
            members = ForeignArchive(_checked(archive, check), limits, compressed=False)
            for member in members:
                copy.add(member, members)
        except ArchiveError as error:
            raise ArtifactError(
                "Artifact upload failed:the engine's copy of the files is broken", details=[f"{host}: {error}"]
            ) from error
        except PackingStoppedError:
            if keep:
                copy.skipped.append(f"{host}: the copy was stopped after {len(copy.entries)} files and folders")
                write_index(copy.tree)
            raise
    return copy.tree


def _checked(archive: Iterator[bytes], check: Check) -> Iterator[bytes]:
    for piece in archive:
        check()
        yield piece


@dataclass(kw_only=True, slots=True)
class _Copy:
    """The files read from the stream so far."""

    host: str
    folder: bytes
    entries: dict[bytes, Entry] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    top: str | None = None
    """The directory that contains all members. For a mount point, Podman gives it no name: `/`, `/d`, `/d/f`."""

    @property
    def tree(self) -> HostTree:
        """The stored files."""
        return HostTree(
            host=self.host,
            root=self.folder,
            entries=in_order(self.entries.values()),
            skipped=tuple(sorted(self.skipped)),
        )

    def add(self, member: "TarEntry", members: "ForeignArchive") -> None:
        """Store one member."""
        path = self._relative_path(member.name)
        if path == b"":
            return
        if path is None:
            self.skipped.append(f"{self.host}: {member.name!r} has an unsafe path and was skipped")
            return
        mtime = int(member.mtime // 1)
        if member.kind == "folder":
            self.entries[path] = Entry(path=path, mode=stat.S_IFDIR | member.mode, mtime=mtime)
        elif member.kind == "link":
            target = os.fsencode(member.link)
            self.entries[path] = Entry(path=path, mode=stat.S_IFLNK | 0o777, mtime=mtime, target=target)
        elif member.kind == "hard":
            first = self.entries.get(self._relative_path(member.link) or b"")
            if first is None:
                self.skipped.append(skipped_note(self.host, path, "a hard link to an unknown file"))
            else:
                self.entries[first.path] = first = replace(first, inode=first.data)
                self.entries[path] = replace(first, path=path)
        elif member.kind == "file":
            data = b"%d" % len(self.entries)
            _write_content(members, os.path.join(self.folder, data))
            mode = stat.S_IFREG | member.mode
            self.entries[path] = Entry(path=path, mode=mode, mtime=mtime, size=member.size, data=data)
        else:
            self.skipped.append(skipped_note(self.host, path, "a FIFO" if member.kind == "fifo" else "a device"))

    def _relative_path(self, name: str) -> bytes | None:
        """The path relative to the top directory; None if it is outside."""
        top, *parts = name.rstrip("/").split("/")
        if self.top is None:
            self.top = top
        if top != self.top or top in {".", ".."} or any(part in {"", ".", ".."} for part in parts):
            return None
        return os.fsencode("/".join(parts))


def _write_content(members: "ForeignArchive", path: bytes) -> None:
    with open(path, "xb", buffering=0, opener=_open_private) as file:
        for piece in members.content():
            rest = memoryview(piece)
            while rest:
                rest = rest[file.write(rest) :]


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
