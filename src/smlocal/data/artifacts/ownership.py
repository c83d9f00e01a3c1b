"""Change the owner of mounted folders through the engine, if this user is not root.

While the container runs they belong to its root, as on the service; afterwards to this user, who must be able to delete
them.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from time import time

from smlocal.data.artifacts.tar_header import END, header, padding
from smlocal.engine.interface import Engine

_OWNER_ALL = 0o700


def ownership_archive(
    entries: Iterable[tuple[str, int, bytes | None]], *, mtime: int | None = None, uid: int = 0, gid: int = 0
) -> bytes:
    """A tar of directories (content None) and files with these modes and this owner."""
    mtime = int(time()) if mtime is None else mtime
    pieces: list[bytes] = []
    for path, mode, content in entries:
        name = os.fsencode(path).strip(b"/")
        if content is None:
            pieces.append(header(path=name, mode=stat.S_IFDIR | mode, mtime=mtime, uid=uid, gid=gid))
        else:
            size = len(content)
            pieces.append(header(path=name, mode=stat.S_IFREG | mode, mtime=mtime, size=size, uid=uid, gid=gid))
            pieces += (content, bytes(padding(size)))
    return b"".join((*pieces, END))


def give_to_root(engine: "Engine", container: str, path: str, entries: Iterable[tuple[str, int, bytes | None]]) -> None:
    """Make root the owner of entries below `path` in a container that has not started."""
    engine.put_archive(container, path, ownership_archive(entries))


def give_to_user(
    engine: "Engine",
    container: str,
    directories: Sequence[tuple[str, str]],
    *,
    only_roots: bool = False,
    rootless: bool = False,
    uid: int | None = None,
    gid: int | None = None,
) -> None:
    """Make this user the owner of all directories below the given ones, so that everything in them can be deleted.

    `directories` are pairs of a local folder and its path in the container, which must have stopped. Files are not
    changed. A directory that cannot be listed yet is listed when it has changed its owner. There is one call to the
    engine for each such round, one with the usual modes, and none if nothing has to change. `only_roots` is for folders
    that belong to the user: only directories that root made in them are changed. In containers of a `rootless` engine,
    root is this user.
    """
    uid = os.geteuid() if uid is None else uid
    gid = os.getegid() if gid is None else gid
    if uid == 0:
        return
    owner_uid, owner_gid = (0, 0) if rootless else (uid, gid)
    pending = [(os.fsencode(folder), os.fsencode(path)) for folder, path in directories]
    while pending:
        headers: list[tuple[bytes, bytes]] = []
        unreadable: list[tuple[bytes, bytes]] = []
        while pending:
            folder, path = pending.pop()
            try:
                status = os.lstat(folder)
            except FileNotFoundError:
                continue
            if status.st_uid == 0 if only_roots else status.st_uid != uid:
                directory_header = header(
                    path=path.strip(b"/"),
                    mode=stat.S_IFDIR | status.st_mode & 0o777 | _OWNER_ALL,
                    mtime=status.st_mtime_ns // 1_000_000_000,
                    uid=owner_uid,
                    gid=owner_gid,
                )
                headers.append((path, directory_header))
            elif not only_roots and status.st_mode & _OWNER_ALL != _OWNER_ALL:
                os.chmod(folder, stat.S_IMODE(status.st_mode) | _OWNER_ALL)
            if os.access(folder, os.R_OK | os.X_OK):
                pending += _subdirectories(folder, path)
            elif not only_roots or status.st_uid == 0:
                unreadable.append((folder, path))
        if headers:
            engine.put_archive(container, "/", b"".join(each for _, each in sorted(headers)) + END)
        # A directory that still cannot be read is hidden below a mount in the container, and empty.
        pending = [pair for pair in unreadable if os.access(pair[0], os.R_OK | os.X_OK)]


def _subdirectories(folder: bytes, path: bytes) -> list[tuple[bytes, bytes]]:
    with os.scandir(folder) as entries:
        return [
            (folder + b"/" + entry.name, path + b"/" + entry.name)
            for entry in entries
            if entry.is_dir(follow_symlinks=False)
        ]
