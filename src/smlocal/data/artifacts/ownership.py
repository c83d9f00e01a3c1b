"""Change the owner of mounted folders through the engine, and the headers of tar members, which archives need too."""

import os
import stat
import struct
from collections.abc import Iterable, Sequence
from time import time

from smlocal.engine.interface import Engine

# Python's tarfile is not used: it takes seven times as long, which matters for a model of 100,000 files, and GNU tar
# warns about how it writes names that are not UTF-8.

BLOCK = 512
END = bytes(2 * BLOCK)
"""The end of an archive."""

_DIRECTORY, _LINK, _HARD_LINK, _FILE, _PAX = b"5", b"2", b"1", b"0", b"x"
_NAME_BYTES = 100
_EIGHT_GIB = 8**11
_MOST_SHORT_ID = 8**7 - 1
_FIELDS = struct.Struct("100s8s8s8s12s12s8s1s100s8s32s32s8s8s167x")
_CHECKSUM_AT = slice(148, 156)


def header(
    *,
    path: bytes,
    mode: int,
    mtime: int,
    size: int = 0,
    target: bytes = b"",
    hard_link: bool = False,
    uid: int = 0,
    gid: int = 0,
) -> bytes:
    """Header blocks of one member; `mode` is a complete st_mode, with the kind of member.

    A `hard_link` is another name of the file `target`, which is earlier in the archive.
    """
    if hard_link:
        kind, name = _HARD_LINK, path
    elif stat.S_ISDIR(mode):
        kind, name, size = _DIRECTORY, path + b"/", 0
    elif stat.S_ISLNK(mode):
        kind, name, size = _LINK, path, 0
    else:
        kind, name = _FILE, path
    records = {}
    if not _fits(name):
        records[b"path"] = name
    if not _fits(target):
        records[b"linkpath"] = target
    if size >= _EIGHT_GIB:
        records[b"size"] = b"%d" % size
    if not 0 <= mtime < _EIGHT_GIB:
        records[b"mtime"] = b"%d" % mtime
    for key, number in ((b"uid", uid), (b"gid", gid)):
        if number > _MOST_SHORT_ID:
            records[key] = b"%d" % number
    plain = _block(
        name=name,
        kind=kind,
        mode=stat.S_IMODE(mode),
        size=size % _EIGHT_GIB,
        mtime=min(max(mtime, 0), _EIGHT_GIB - 1),
        uid=min(uid, _MOST_SHORT_ID),
        gid=min(gid, _MOST_SHORT_ID),
        target=target,
        owner=b"root" if uid == 0 else b"",
        group=b"root" if gid == 0 else b"",
    )
    return _pax(records) + plain if records else plain


def padding(size: int) -> int:
    """The number of zero bytes after `size` bytes of data."""
    return -size % BLOCK


def _fits(name: bytes) -> bool:
    """True if no pax record is needed, because the name fits into the header's field of 100 bytes.

    Names that are not ASCII go into a pax record, whose encoding is UTF-8. A name that is not UTF-8 stays in the field,
    which has no encoding.
    """
    return len(name) <= _NAME_BYTES and (name.isascii() or not _is_utf8(name))


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _pax(records: dict[bytes, bytes]) -> bytes:
    if not all(_is_utf8(value) for value in records.values()):
        records = {b"hdrcharset": b"BINARY", **records}
    body = b"".join(_record(key, value) for key, value in records.items())
    return _block(name=b"././@PaxHeader", kind=_PAX, mode=0o644, size=len(body)) + body + bytes(padding(len(body)))


def _record(key: bytes, value: bytes) -> bytes:
    rest = b" %s=%s\n" % (key, value)
    length = len(rest) + len(str(len(rest)))
    length = len(rest) + len(str(length))  # the number counts its own digits
    return b"%d%s" % (length, rest)


def _block(
    *,
    name: bytes,
    kind: bytes,
    mode: int,
    size: int,
    mtime: int = 0,
    uid: int = 0,
    gid: int = 0,
    target: bytes = b"",
    owner: bytes = b"",
    group: bytes = b"",
) -> bytes:
    block = bytearray(
        _FIELDS.pack(
            name[:_NAME_BYTES],
            b"%07o" % mode,
            b"%07o" % uid,
            b"%07o" % gid,
            b"%011o" % size,
            b"%011o" % mtime,
            b" " * 8,
            kind,
            target[:_NAME_BYTES],
            b"ustar\x0000",
            owner,
            group,
            b"",
            b"",
        )
    )
    block[_CHECKSUM_AT] = b"%06o\0 " % sum(block)
    return bytes(block)


# While the container runs they belong to its root, as on the service; afterwards to this user, who must be able to
# delete them.

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
