"""Who owns what below the mounted folders when this user is not root: the container's root while it runs, then we."""

import os
import stat
from collections.abc import Iterable, Sequence
from time import time
from typing import TYPE_CHECKING

from smlocal.artifacts.tar_header import END, header, padding
from smlocal.removal import remove_tree

if TYPE_CHECKING:
    from smlocal.engine.interface import Engine

__all__ = ["hand_back", "ownership_archive", "remove_tree", "take_over"]

_OURS = 0o700


def ownership_archive(
    entries: Iterable[tuple[str, int, bytes | None]], *, mtime: int | None = None, uid: int = 0, gid: int = 0
) -> bytes:
    """A tar of directories (content None) and files with the given permissions, owned by root unless told otherwise."""
    moment = int(time()) if mtime is None else mtime
    pieces: list[bytes] = []
    for path, mode, content in entries:
        name = os.fsencode(path).strip(b"/")
        if content is None:
            pieces.append(header(path=name, mode=stat.S_IFDIR | mode, mtime=moment, uid=uid, gid=gid))
        else:
            size = len(content)
            pieces.append(header(path=name, mode=stat.S_IFREG | mode, mtime=moment, size=size, uid=uid, gid=gid))
            pieces += (content, bytes(padding(size)))
    return b"".join((*pieces, END))


def take_over(engine: "Engine", container: str, path: str, entries: Iterable[tuple[str, int, bytes | None]]) -> None:
    """Give what lies below `path` of a container that has not started to root, as the service has it."""
    engine.put_archive(container, path, ownership_archive(entries))


def hand_back(
    engine: "Engine",
    container: str,
    directories: Sequence[tuple[str, str]],
    *,
    only_roots: bool = False,
    rootless: bool = False,
    uid: int | None = None,
    gid: int | None = None,
) -> None:
    """Make every directory below the given (folder here, path in the container) ours, so that we may delete all of it.

    For a container that has stopped. Only directories are touched, never the bytes or owners of files. What we cannot
    list yet shows its own directories once it is ours, hence the rounds: one call to the engine each, and for the usual
    modes a single one. Nothing is asked of the engine when all is ours, as it is for root. `only_roots` is for folders
    of the user's own: there only what root has made is taken, and the modes of the rest stay. The root of a `rootless`
    engine's containers is this user.
    """
    uid = os.geteuid() if uid is None else uid
    gid = os.getegid() if gid is None else gid
    if uid == 0:
        return
    owner = (0, 0) if rootless else (uid, gid)
    pending = [(os.fsencode(here), os.fsencode(there)) for here, there in directories]
    while pending:
        pieces: list[tuple[bytes, bytes]] = []
        closed: list[tuple[bytes, bytes]] = []
        while pending:
            here, there = pending.pop()
            try:
                status = os.lstat(here)
            except FileNotFoundError:
                continue
            if status.st_uid == 0 if only_roots else status.st_uid != uid:
                piece = header(
                    path=there.strip(b"/"),
                    mode=stat.S_IFDIR | status.st_mode & 0o777 | _OURS,
                    mtime=status.st_mtime_ns // 1_000_000_000,
                    uid=owner[0],
                    gid=owner[1],
                )
                pieces.append((there, piece))
            elif not only_roots and status.st_mode & _OURS != _OURS:
                os.chmod(here, stat.S_IMODE(status.st_mode) | _OURS)
            if os.access(here, os.R_OK | os.X_OK):
                pending += _directories(here, there)
            elif not only_roots or status.st_uid == 0:
                closed.append((here, there))
        if pieces:
            engine.put_archive(container, "/", b"".join(piece for _, piece in sorted(pieces)) + END)
        # A directory that is still closed lies hidden below a mount, and is empty.
        pending = [(here, there) for here, there in closed if os.access(here, os.R_OK | os.X_OK)]


def _directories(here: bytes, there: bytes) -> list[tuple[bytes, bytes]]:
    """The directories in a directory, never links to some; their paths here and in the container."""
    with os.scandir(here) as entries:
        return [
            (here + b"/" + entry.name, there + b"/" + entry.name)
            for entry in entries
            if entry.is_dir(follow_symlinks=False)
        ]
