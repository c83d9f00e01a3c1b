"""What the hosts left in a directory, as sorted entries, and how several hosts' trees become one."""

import errno
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field

from smlocal.artifacts.safe_open import Reach
from smlocal.quick_dataclass import dataclass

_SKIPPED_KINDS = {
    stat.S_IFSOCK: "a socket",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}
_NO_DIRECTORY = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
"""A link is one of the last two, depending on the system."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One file, directory or link. Names are bytes: a container may write any."""

    path: bytes
    """Relative to the host's directory, without a trailing slash."""
    mode: int
    """The whole st_mode."""
    mtime: int
    size: int = 0
    target: bytes = b""
    """Where a link points to."""
    data: bytes = b""
    """Name of the file below the tree's root that holds the bytes, when they do not lie at `path`."""
    inode: bytes = b""
    """Of a file with several names (hard links), what they have in common; empty for a file of one name."""

    @property
    def is_directory(self) -> bool:
        """True for a directory itself, never for a link to one."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        """True for a regular file."""
        return stat.S_ISREG(self.mode)


@dataclass(frozen=True, kw_only=True, slots=True)
class HostTree:
    """The entries of one host's directory, parents before children, and where their bytes lie here."""

    host: str
    root: bytes
    entries: tuple[Entry, ...]
    skipped: tuple[str, ...] = ()
    reach: Reach | None = field(default=None, repr=False, compare=False)

    def open(self, entry: Entry) -> int:
        """Open the bytes of a file, without following a link that has come since."""
        reach = self.reach if self.reach is not None else Reach(self.root)
        return reach.file(entry.data or entry.path)


@dataclass(frozen=True, kw_only=True, slots=True)
class Clash:
    """Two hosts wrote the same path; the later host won."""

    path: str
    loser: str
    winner: str

    def __str__(self) -> str:
        return f"{self.path}: both {self.loser} and {self.winner} wrote it; {self.winner}'s was kept"


def walk(host: str, directory: str) -> HostTree:
    """Look at every entry below `directory`, following no link, nor one that stands in its own place.

    A directory that is not there, or no directory, has no entries: the container may delete and replace what lies in
    a folder of its own. PermissionError when something there cannot be read by this user: the bytes must then come
    through the engine.
    """
    root = os.fsencode(os.path.abspath(directory))
    reach = Reach(root)
    try:
        reach.directory(b"")
    except OSError as error:
        if error.errno not in _NO_DIRECTORY:
            raise
        return _no_directory(host, root)
    entries: list[Entry] = []
    skipped: list[str] = []
    pending = [b""]
    while pending:
        parent = pending.pop()
        try:
            folder = reach.directory(parent)
            found = _list(host, folder, parent, skipped)
        except OSError as error:
            if isinstance(error, PermissionError) or not parent:
                raise
            skipped.append(f"{host}: {os.fsdecode(parent)}/ cannot be listed ({error.strerror})")
            continue
        entries += found
        pending += [entry.path for entry in found if entry.is_directory]
    return HostTree(host=host, root=root, entries=in_order(entries), skipped=tuple(sorted(skipped)), reach=reach)


def _list(host: str, folder: int, parent: bytes, skipped: list[str]) -> list[Entry]:
    entries = []
    privileged = os.geteuid() == 0
    with os.scandir(folder) as scan:
        for found in scan:
            name = os.fsencode(found.name)  # by descriptor, names come as text
            path = parent + b"/" + name if parent else name
            status = found.stat(follow_symlinks=False)
            kind = stat.S_IFMT(status.st_mode)
            if kind in _SKIPPED_KINDS:
                skipped.append(left_out(host, path, _SKIPPED_KINDS[kind]))
                continue
            if kind == stat.S_IFREG and not privileged and not os.access(name, os.R_OK, dir_fd=folder):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fsdecode(path))
            entries.append(
                Entry(
                    path=path,
                    mode=status.st_mode,
                    mtime=status.st_mtime_ns // 1_000_000_000,
                    size=status.st_size if kind == stat.S_IFREG else 0,
                    target=os.readlink(name, dir_fd=folder) if kind == stat.S_IFLNK else b"",
                    inode=b"%d:%d" % (status.st_dev, status.st_ino)
                    if kind == stat.S_IFREG and status.st_nlink > 1
                    else b"",
                )
            )
    return entries


def _no_directory(host: str, root: bytes) -> HostTree:
    """Nothing was written; what stands in the place of the directory is told, and not looked into."""
    os.stat(os.path.dirname(root))  # our own folder: without it nothing can be said
    skipped: tuple[str, ...] = ()
    with suppress(FileNotFoundError):
        mode = os.lstat(root).st_mode
        kind = _SKIPPED_KINDS.get(stat.S_IFMT(mode), "a link" if stat.S_ISLNK(mode) else "a file")
        name = os.fsdecode(os.path.basename(root))
        skipped = (f"{host}: {name} is {kind} instead of a folder: its files were not kept",)
    return HostTree(host=host, root=root, entries=(), skipped=skipped)


def left_out(host: str, path: bytes, kind: str) -> str:
    """The note for something that no archive carries."""
    return f"{host}: {os.fsdecode(path)} is {kind} and was skipped"


def in_order(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Sort so that a directory is followed by all that is in it, which tar needs to restore its mode and time."""
    return tuple(sorted(entries, key=lambda entry: entry.path.replace(b"/", b"\0")))


def merge(trees: Sequence[HostTree]) -> tuple[list[tuple[HostTree, Entry]], list[Clash]]:
    """One tree of all hosts, in host order, the later winning."""
    if len(trees) == 1:
        return [(trees[0], entry) for entry in trees[0].entries], []
    merged: dict[bytes, tuple[HostTree, Entry]] = {}
    clashes: list[Clash] = []
    for tree in trees:
        replaced: list[bytes] = []
        for entry in tree.entries:
            earlier = merged.get(entry.path)
            if earlier is not None and not (entry.is_directory and earlier[1].is_directory):
                clashes.append(Clash(path=os.fsdecode(entry.path), loser=earlier[0].host, winner=tree.host))
                if earlier[1].is_directory:
                    replaced.append(entry.path + b"/")
            merged[entry.path] = (tree, entry)
        for below in replaced:
            # Only the losers: an entry of the winner below its own file cannot be.
            for path in [path for path in merged if path.startswith(below)]:
                del merged[path]
    return sorted(merged.values(), key=lambda pair: pair[1].path.replace(b"/", b"\0")), clashes


def bytes_once(members: Sequence[tuple[HostTree, Entry]]) -> int:
    """The size of all files together, of one with several names (hard links) once."""
    linked = {(tree.host, entry.inode): entry.size for tree, entry in members if entry.inode}
    return sum(entry.size for _, entry in members if not entry.inode) + sum(linked.values())


class FirstNames:
    """Under which name each file with several names (hard links) was written, so that the others can be links to it."""

    def __init__(self) -> None:
        """Nothing has been written."""
        self._names: dict[tuple[str, bytes], bytes] = {}

    def add(self, tree: HostTree, entry: Entry) -> None:
        """A file has been written with all its bytes."""
        if entry.inode:
            self._names[tree.host, entry.inode] = entry.path

    def first(self, tree: HostTree, entry: Entry) -> bytes | None:
        """The path at which the file stands already; None where it has to be written."""
        return self._names.get((tree.host, entry.inode)) if entry.inode else None
