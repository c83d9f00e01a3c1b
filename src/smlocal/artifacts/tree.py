"""What the hosts left in a directory, as sorted entries, and how several hosts' trees become one."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

_SKIPPED_KINDS = {
    stat.S_IFSOCK: "a socket",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


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

    def location(self, entry: Entry) -> bytes:
        """Path of the file here that holds the bytes of `entry`."""
        return self.root + b"/" + (entry.data or entry.path)


@dataclass(frozen=True, kw_only=True, slots=True)
class Clash:
    """Two hosts wrote the same path; the later host won."""

    path: str
    loser: str
    winner: str

    def __str__(self) -> str:
        return f"{self.path}: both {self.loser} and {self.winner} wrote it; {self.winner}'s was kept"


def walk(host: str, directory: str) -> HostTree:
    """Look at every entry below `directory`, following no link.

    PermissionError when something there cannot be read by this user: the bytes must then come through the engine.
    """
    root = os.fsencode(directory)
    entries: list[Entry] = []
    skipped: list[str] = []
    privileged = os.geteuid() == 0
    pending = [b""]
    while pending:
        parent = pending.pop()
        try:
            scan = os.scandir(root + b"/" + parent)
        except OSError as error:
            if isinstance(error, PermissionError) or not parent:
                raise
            skipped.append(f"{host}: {os.fsdecode(parent)}/ cannot be listed ({error.strerror})")
            continue
        with scan:
            for found in scan:
                path = parent + found.name
                status = found.stat(follow_symlinks=False)
                kind = stat.S_IFMT(status.st_mode)
                if kind in _SKIPPED_KINDS:
                    skipped.append(left_out(host, path, _SKIPPED_KINDS[kind]))
                    continue
                target = b""
                size = 0
                if kind == stat.S_IFLNK:
                    target = os.readlink(found.path)
                elif kind == stat.S_IFDIR:
                    pending.append(path + b"/")
                else:
                    size = status.st_size
                    if not privileged and not os.access(found.path, os.R_OK):
                        raise PermissionError(13, os.strerror(13), os.fsdecode(found.path))
                entries.append(
                    Entry(
                        path=path,
                        mode=status.st_mode,
                        mtime=status.st_mtime_ns // 1_000_000_000,
                        size=size,
                        target=target,
                    )
                )
    return HostTree(host=host, root=root, entries=in_order(entries), skipped=tuple(sorted(skipped)))


def left_out(host: str, path: bytes, kind: str) -> str:
    """The note for something that no archive carries."""
    return f"{host}: {os.fsdecode(path)} is {kind} and was left out"


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
