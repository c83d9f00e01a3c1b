"""The files that the hosts left in a folder, as sorted entries, and how the trees of several hosts become one."""

import errno
import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import field

from smlocal.base.files import Check, Opener, no_check
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import ArtifactError

_SKIPPED_KINDS = {
    stat.S_IFSOCK: "a socket",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}
_NOT_A_DIRECTORY = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
"""A link gives ENOTDIR or ELOOP, depending on the system."""
_NOT_A_FILE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One file, directory or link. Names are bytes, because a container may write any bytes."""

    path: bytes
    """Relative to the host's directory, without a trailing slash."""
    mode: int
    """The complete st_mode."""
    mtime: int
    size: int = 0
    target: bytes = b""
    """The target of a link."""
    data: bytes = b""
    """Name of the file with the content, below the tree's root, if it is not `path`."""
    inode: bytes = b""
    """The same for all names (hard links) of one file; empty for a file with one name."""

    @property
    def is_directory(self) -> bool:
        """False for a link to a directory."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        """True for a regular file."""
        return stat.S_ISREG(self.mode)


@dataclass(frozen=True, kw_only=True, slots=True)
class HostTree:
    """The entries of one host's directory, parents before children, and the local folder with their content."""

    host: str
    root: bytes
    entries: tuple[Entry, ...]
    skipped: tuple[str, ...] = ()
    """A sentence for each entry that cannot be kept."""
    opener: Opener | None = field(default=None, repr=False, compare=False)

    def open(self, entry: Entry) -> int:
        """Open a file for reading. No link is followed, even if it was made after the walk."""
        opener = self.opener if self.opener is not None else Opener(self.root)
        return opener.file(entry.data or entry.path)


@dataclass(frozen=True, kw_only=True, slots=True)
class Clash:
    """Two hosts wrote the same path; the file of the later host was kept."""

    path: str
    loser: str
    winner: str

    def __str__(self) -> str:
        return f"{self.path}: both {self.loser} and {self.winner} wrote it; {self.winner}'s was kept"


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteReport:
    """An archive or folder that was written."""

    path: str
    members: int
    bytes_in: int
    """Bytes before compression."""
    bytes_out: int
    """Size of the archive, or of all files."""
    notes: tuple[str, ...]
    clashes: tuple[Clash, ...]


def walk(host: str, directory: str, *, check: Check = no_check) -> HostTree:
    """List everything below `directory`. No link is followed, nor a link in place of `directory`.

    There are no entries if `directory` is missing or is not a directory, because the container may delete or replace
    it. `PermissionError` if this user cannot read something: then the files must be copied through the engine.
    """
    root = os.fsencode(os.path.abspath(directory))
    opener = Opener(root)
    try:
        opener.directory(b"")
    except OSError as error:
        if error.errno not in _NOT_A_DIRECTORY:
            raise
        return _without_directory(host, root)
    entries: list[Entry] = []
    skipped: list[str] = []
    pending = [b""]
    while pending:
        parent = pending.pop()
        check()
        try:
            found = _list(host, opener.directory(parent), parent, skipped)
        except OSError as error:
            if isinstance(error, PermissionError) or not parent:
                raise
            skipped.append(f"{host}: {os.fsdecode(parent)}/ cannot be listed ({error.strerror})")
            continue
        entries += found
        pending += [entry.path for entry in found if entry.is_directory]
    return HostTree(host=host, root=root, entries=in_order(entries), skipped=tuple(sorted(skipped)), opener=opener)


def _list(host: str, folder: int, parent: bytes, skipped: list[str]) -> list[Entry]:
    entries = []
    privileged = os.geteuid() == 0
    with os.scandir(folder) as scan:
        for found in scan:
            name = os.fsencode(found.name)  # scandir of a descriptor returns names as text
            path = parent + b"/" + name if parent else name
            status = found.stat(follow_symlinks=False)
            kind = stat.S_IFMT(status.st_mode)
            if kind in _SKIPPED_KINDS:
                skipped.append(skipped_note(host, path, _SKIPPED_KINDS[kind]))
                continue
            is_file = kind == stat.S_IFREG
            if is_file and not privileged and not os.access(name, os.R_OK, dir_fd=folder):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fsdecode(path))
            entries.append(
                Entry(
                    path=path,
                    mode=status.st_mode,
                    mtime=status.st_mtime_ns // 1_000_000_000,
                    size=status.st_size if is_file else 0,
                    target=os.readlink(name, dir_fd=folder) if kind == stat.S_IFLNK else b"",
                    inode=b"%d:%d" % (status.st_dev, status.st_ino) if is_file and status.st_nlink > 1 else b"",
                )
            )
    return entries


def _without_directory(host: str, root: bytes) -> HostTree:
    """A tree without entries, with a note if something else is in place of the directory."""
    os.stat(os.path.dirname(root))  # the host's folder belongs to smlocal: an error if it is missing
    skipped: tuple[str, ...] = ()
    with suppress(FileNotFoundError):
        mode = os.lstat(root).st_mode
        kind = _SKIPPED_KINDS.get(stat.S_IFMT(mode), "a link" if stat.S_ISLNK(mode) else "a file")
        name = os.fsdecode(os.path.basename(root))
        skipped = (f"{host}: {name} is {kind} instead of a folder: its files were not kept",)
    return HostTree(host=host, root=root, entries=(), skipped=skipped)


def skipped_note(host: str, path: bytes, kind: str) -> str:
    """The note for something that is not kept."""
    return f"{host}: {os.fsdecode(path)} is {kind} and was skipped"


def in_order(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Sort so that everything in a directory follows it: tar needs this to restore its mode and time."""
    return tuple(sorted(entries, key=lambda entry: _sort_key(entry.path)))


def _sort_key(path: bytes) -> bytes:
    return path.replace(b"/", b"\0")


def merge(trees: Sequence[HostTree]) -> tuple[list[tuple[HostTree, Entry]], list[Clash]]:
    """One tree of all hosts, given in host order; for the same path the later host wins."""
    if len(trees) == 1:
        return [(trees[0], entry) for entry in trees[0].entries], []
    merged: dict[bytes, tuple[HostTree, Entry]] = {}
    clashes: list[Clash] = []
    for tree in trees:
        replaced_folders: list[bytes] = []
        for entry in tree.entries:
            earlier = merged.get(entry.path)
            if earlier is not None and not (entry.is_directory and earlier[1].is_directory):
                clashes.append(Clash(path=os.fsdecode(entry.path), loser=earlier[0].host, winner=tree.host))
                if earlier[1].is_directory:
                    replaced_folders.append(entry.path + b"/")
            merged[entry.path] = (tree, entry)
        for folder in replaced_folders:  # this host has no entries below its own file
            for path in [path for path in merged if path.startswith(folder)]:
                del merged[path]
    return sorted(merged.values(), key=lambda member: _sort_key(member[1].path)), clashes


def open_if_present(tree: HostTree, entry: Entry, notes: list[str]) -> int | None:
    """Open a file for reading; None, with a note, if it is not a file any more."""
    try:
        source = tree.open(entry)
    except OSError as error:
        if error.errno not in _NOT_A_FILE:
            raise
    else:
        if stat.S_ISREG(os.fstat(source).st_mode):
            return source
        os.close(source)
    notes.append(f"{tree.host}: {os.fsdecode(entry.path)} was deleted before it could be saved")
    return None


def readable_tree(host: str, directory: str, *, check: Check = no_check) -> HostTree | None:
    """The tree of a folder; None if this user cannot read it."""
    try:
        return walk(host, directory, check=check)
    except PermissionError:
        return None
    except OSError as error:
        raise ArtifactError(f"Artifact upload failed:{error.strerror}", details=[directory]) from error
