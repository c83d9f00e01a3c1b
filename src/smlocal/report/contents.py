"""What is in an artifact: the names and sizes in its headers, without unpacking anything, and never without a bound."""

import os
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from tarfile import TarInfo

_SHOWN = 300
_COUNTED = 10_000
_MOST_BYTES = 1 << 29
"""To reach the next header everything between has to be decompressed: half a GiB takes a second or two."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A file in an artifact."""

    path: str
    size: int | None
    """None for what has no bytes of its own: a folder or a link."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """An artifact and the first of its members."""

    path: str
    size: int
    members: tuple[Member, ...] = ()
    count: int = 0
    complete: bool = True
    """False when there may be more than were counted."""
    trouble: str | None = None
    """Why it could not be looked into, or not to its end."""


def contents(path: str, size: int) -> Contents:
    """Look into an archive, or at a folder of artifacts."""
    members: list[Member] = []
    count, complete, trouble = 0, True, None
    try:
        for member in _folder(path) if os.path.isdir(path) else _archive(path):
            if member is None or count == _COUNTED:
                complete = False
                break
            count += 1
            if len(members) < _SHOWN:
                members.append(member)
    except FileNotFoundError:
        trouble = "It is no longer there."
    except (OSError, EOFError, ValueError, zlib.error) as error:
        trouble = f"It cannot be read: {getattr(error, 'strerror', None) or error}."
    return Contents(
        path=path, size=size, members=tuple(members), count=count, complete=complete and not trouble, trouble=trouble
    )


def _archive(path: str) -> Iterator[Member | None]:
    """Members in the archive's order; a last None says that the rest was not looked at."""
    import tarfile

    from isal import igzip

    try:
        file = igzip.IGzipFile(path, "rb")  # type: ignore[no-untyped-call] # published so
        with file as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            for header in archive:
                yield Member(path=_shown(header), size=header.size if header.isreg() else None)
                if header.offset_data + header.size > _MOST_BYTES:
                    yield None
                    return
    except tarfile.TarError as error:
        raise ValueError(str(error)) from error


def _shown(header: "TarInfo") -> str:
    if header.isdir():
        return f"{header.name}/"
    return f"{header.name} → {header.linkname}" if header.issym() or header.islnk() else header.name


def _folder(top: str) -> Iterator[Member]:
    """Everything below a folder, by name."""
    pending = [top]
    while pending:
        with os.scandir(pending.pop()) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        below = []
        for entry in entries:
            path = os.path.relpath(entry.path, top)
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.path)
            elif entry.is_symlink():
                yield Member(path=f"{path} → {os.readlink(entry.path)}", size=None)
            else:
                yield Member(path=path, size=entry.stat(follow_symlinks=False).st_size)
        pending += reversed(below)
