"""Folders that are not packed: a model as its files, those kept until `smlocal pack`, copies made by the engine."""

import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.base.files import Check, no_check, remove_tree
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.artifacts.archive import Progress
from smlocal.data.artifacts.atomic_write import PackingStoppedError, artifact_errors, atomic_write, copy_bytes
from smlocal.data.artifacts.tree import (
    Entry,
    HostTree,
    WriteReport,
    in_order,
    merge,
    open_if_present,
    readable_tree,
    skipped_note,
    walk,
)
from smlocal.engine.interface import Engine
from smlocal.errors import ArtifactError, EngineError

if TYPE_CHECKING:
    from smlocal.base.foreign_archive import stream
    from smlocal.base.foreign_archive.archive import ArchiveLimits, ForeignArchive
    from smlocal.base.foreign_archive.tar_entries import TarEntry
else:
    stream = at_use("smlocal.base.foreign_archive.stream")
    ArchiveLimits = at_use("smlocal.base.foreign_archive.archive", "ArchiveLimits")
    ForeignArchive = at_use("smlocal.base.foreign_archive.archive", "ForeignArchive")

_OWNER_FILE, _OWNER_DIRECTORY = 0o600, 0o700


def write_model_folder(
    sources: Sequence[HostTree],
    destination: str,
    *,
    progress: Progress | None = None,
    replace: bool = False,
    owner: str = "",
    links: bool = True,
    check: Check = no_check,
) -> WriteReport | None:
    """Copy the files of the hosts to the folder `destination`; None, and no folder, if there are none.

    An existing folder is replaced if an earlier attempt of this job wrote it, or if `replace` is True. Otherwise, or if
    the folder cannot be written, `ArtifactError` is raised. Links stay links; without `links` they are left out, with a
    note. Modes are kept, but the owner may always read and delete, and nothing is setuid. `owner` marks the unfinished
    folder (`atomic_write`). `check` is called between pieces; if it raises, there is no folder.
    """
    members, clashes = merge(sources)
    notes = [note for source in sources for note in source.skipped]
    if not links:
        members, left_out = _without_links(members)
        notes += left_out
    if not members:
        return None
    if not replace:
        with artifact_errors(destination):
            _check_replaceable(destination, members)
    with atomic_write(destination, owner=owner) as partial:
        os.mkdir(partial)
        bytes_copied, count = _copy_all(members, os.fsencode(partial), notes, progress, check)
    return WriteReport(
        path=destination,
        members=count,
        bytes_in=bytes_copied,
        bytes_out=bytes_copied,
        notes=tuple(notes),
        clashes=tuple(clashes),
    )


def _without_links(members: Sequence[tuple[HostTree, Entry]]) -> tuple[list[tuple[HostTree, Entry]], list[str]]:
    kept, left_out = [], []
    for tree, entry in members:
        if entry.is_file or entry.is_directory:
            kept.append((tree, entry))
        else:
            left_out.append(skipped_note(tree.host, entry.path, "a link, which a bucket cannot have,"))
    return kept, left_out


def _check_replaceable(destination: str, members: Sequence[tuple[HostTree, Entry]]) -> None:
    """`ArtifactError` if the folder has anything that this job does not write again."""
    if not os.path.lexists(destination):
        return
    written_again = {_identity(entry) for _, entry in members}
    present = walk("", destination)
    foreign = next((entry for entry in present.entries if _identity(entry) not in written_again), None)
    if foreign is None and not present.skipped:
        return
    shown = present.skipped[0] if foreign is None else f"{destination}/{os.fsdecode(foreign.path)}"
    raise ArtifactError(
        f"Artifact upload failed:{destination} already exists",
        details=[f"{shown} does not belong to this job"],
        remedy=["Move it, choose another output folder, or rename the job."],
    )


def _identity(entry: Entry) -> tuple[bytes, int, int, int, bytes]:
    kind = stat.S_IFMT(entry.mode)
    return entry.path, kind, entry.size, 0 if entry.is_directory else entry.mtime, entry.target


def _copy_all(
    members: Sequence[tuple[HostTree, Entry]], root: bytes, notes: list[str], progress: Progress | None, check: Check
) -> tuple[int, int]:
    total = sum(entry.size for _, entry in members)
    done = count = 0

    def report(more: int) -> None:
        nonlocal done
        done += more
        check()
        if progress is not None:
            progress(min(done, total), total)

    directories: list[tuple[bytes, Entry]] = []
    first_names: dict[tuple[str, bytes], bytes] = {}
    for tree, entry in members:
        check()
        target = root + b"/" + entry.path
        first = first_names.get((tree.host, entry.inode))
        if entry.is_directory:
            os.mkdir(target)
            directories.append((target, entry))
        elif first is not None:
            os.link(root + b"/" + first, target)
            report(entry.size)
        elif not entry.is_file:
            os.symlink(entry.target, target)
            os.utime(target, (entry.mtime, entry.mtime), follow_symlinks=False)
        elif not _copy_file(tree, entry, target, notes, report):
            continue
        elif entry.inode:
            first_names[tree.host, entry.inode] = entry.path
        count += 1
    report(0)
    for target, entry in reversed(directories):  # at the end, because writing into a directory changes its time
        os.chmod(target, entry.mode & 0o777 | _OWNER_DIRECTORY)
        os.utime(target, (entry.mtime, entry.mtime))
    return done, count


def _copy_file(tree: HostTree, entry: Entry, target: bytes, notes: list[str], report: Callable[[int], None]) -> bool:
    source = open_if_present(tree, entry, notes)
    if source is None:
        return False
    try:
        copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            copy_bytes(source, copy, report)
            os.fchmod(copy, entry.mode & 0o777 | _OWNER_FILE)
            os.utime(copy, (entry.mtime, entry.mtime))
        finally:
            os.close(copy)
    finally:
        os.close(source)
    return True


# Keep the folders of a job that could not be packed, until `smlocal pack`.
#
# A folder is kept as it is. In a copy that was made through the engine, files are named by numbers; an index next to
# it has the names, modes and links.

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
    """True for a folder without entries, and for anything that is not a folder."""
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except (FileNotFoundError, NotADirectoryError):
        return True


def _to_json(value: bytes | int) -> str | int:
    return os.fsdecode(value) if isinstance(value, bytes) else value


def _from_json(value: str | int) -> Any:
    return os.fsencode(value) if isinstance(value, str) else value


# Nothing is unpacked under the names that the container chose: the content of each file is stored in a private folder
# under a number. Names, modes and links are only kept as data of an entry. So no name can point outside the folder, and
# files of mode 000 are copied too.

_NO_LIMIT = 1 << 62


_NOT_FOUND = 404


def read_or_copy(
    host: str,
    directory: str,
    *,
    engine: Engine,
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
    read = readable_tree(host, directory, check=check) if shared else None
    return read or _copy(host, engine, container, path, copy_to, check=check, keep=not shared)


def _copy(host: str, engine: Engine, container: str, path: str, copy_to: str, *, check: Check, keep: bool) -> HostTree:
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
        except stream.ArchiveError as error:
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
