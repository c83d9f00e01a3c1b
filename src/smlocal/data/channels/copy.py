"""Folders made from a listing: copies, or hard links that serve only as the lower layer of an overlay."""

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field
from errno import EACCES, EDQUOT, EISDIR, ELOOP, ENOENT, ENOSPC, EPERM
from fcntl import ioctl

from smlocal.base.kernel_copy import NOT_SUPPORTED, copy_range
from smlocal.base.no_links import Opener
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.removal import remove_tree
from smlocal.data.channels.interface import Check, Means, no_check
from smlocal.data.sources.local_path import opener_of
from smlocal.errors import StagingError
from smlocal.terms.listing import Listing

_DIRECTORY_MODE = 0o755
_FULL = {ENOSPC, EDQUOT}
_S3_ERRORS = {
    ENOENT: "NoSuchKey: The specified key does not exist.",
    EACCES: "AccessDenied: Access Denied",
    EPERM: "AccessDenied: Access Denied",
}
"""The answer of S3 for a file that cannot be read."""


def copy_tree(
    listing: Listing, target: str, *, folders: Sequence[str] = (), check: Check = no_check
) -> tuple[Means, int]:
    """Copy every object below the new folder `target`; return how, and how many bytes were copied.

    Without hard links: the container may write to these files. `folders` are made even if they are empty.
    """
    duplicator = Duplicator(check=check)
    try:
        _make_folder(listing, target)
        _fill(listing, target, _duplicating(listing, duplicator), folders=folders)
    except StagingError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in _FULL:
            with suppress(OSError):
                remove_tree(target)  # the database may be on the same disk, and needs room to record the failure
        raise
    cloned = duplicator.reflinked > 0 and duplicator.bytes_copied == 0
    return Means.REFLINK if cloned else Means.COPY, duplicator.bytes_copied


def link_tree(listing: Listing, target: str, *, check: Check = no_check) -> int:
    """Collect the objects in the new folder `target`, as hard links where possible; return the bytes copied.

    These may be the user's own files: nothing may write, chmod or chown there. An overlay above it does not.
    """
    duplicator = Duplicator(check=check)
    duplicate = _duplicating(listing, duplicator)
    opener = opener_of(listing)

    def link_or_duplicate(index: int, place: str) -> None:
        check()
        try:
            _link(listing, index, place, opener)
        except FileNotFoundError:
            raise
        except OSError:  # another device, too many links, or a file of another user that may not be linked
            duplicate(index, place)

    _make_folder(listing, target)
    _fill(listing, target, link_or_duplicate)
    return duplicator.bytes_copied


def copy_into(listing: Listing, target: str, *, check: Check = no_check) -> int:
    """Copy every object below the existing folder `target`, which may have subfolders; return the bytes copied."""
    duplicator = Duplicator(check=check)
    _fill(listing, target, _duplicating(listing, duplicator), existing=True)
    return duplicator.bytes_copied


# Copies a file in the fastest way that the file system allows.

_FICLONE = 0x40049409
FILE_MODE = 0o644


@dataclass(kw_only=True, slots=True)
class Duplicator:
    """Makes independent copies, and remembers which devices do not support reflinks."""

    check: Check = no_check
    """Called before each file, and repeatedly within a large one."""
    reflinked: int = 0
    bytes_copied: int = 0
    _cannot_clone: set[int] = field(default_factory=set)

    def duplicate(self, source: str, target: str, *, reading: int | None = None) -> None:
        """Make `target` with the content of `source`, the service's mode and the current time.

        `reading`: the source, if it is open already. It is closed.
        """
        if reading is None:
            # Non-blocking: the file may have been replaced by a FIFO.
            reading = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            self.check()
            status = os.fstat(reading)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(EISDIR, "is no longer a regular file", source)
            writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
            try:
                os.fchmod(writing, FILE_MODE)  # regardless of the umask
                if status.st_size and self._cloned(reading, writing, status.st_dev):
                    self.reflinked += 1
                else:
                    self.bytes_copied += copy_range(reading, writing, 0, None, lambda _: self.check())
            finally:
                os.close(writing)
        finally:
            os.close(reading)

    def _cloned(self, reading: int, writing: int, device: int) -> bool:
        if device in self._cannot_clone:
            return False
        try:
            ioctl(writing, _FICLONE, reading)
        except OSError as error:
            if error.errno not in NOT_SUPPORTED:
                raise
            self._cannot_clone.add(device)
            return False
        return True


def _duplicating(listing: Listing, duplicator: Duplicator) -> Callable[[int, str], None]:
    """Copies an object of the listing to a path."""
    opener = opener_of(listing)

    def duplicate(index: int, place: str) -> None:
        reading = None if opener is None else opener.file(os.fsencode(listing.below_root(index)))
        duplicator.duplicate(listing.file(index), place, reading=reading)

    return duplicate


def _link(listing: Listing, index: int, place: str, opener: Opener | None) -> None:
    """Give a file of the listing a second name."""
    if opener is None:
        source = listing.file(index)
        # link(2) on a symbolic link would make a second name for the link itself.
        os.link(os.path.realpath(source) if os.path.islink(source) else source, place)
        return
    above, _, name = os.fsencode(listing.below_root(index)).rpartition(b"/")
    os.link(name, os.fsencode(place), src_dir_fd=opener.directory(above), follow_symlinks=False)
    if not stat.S_ISREG(os.lstat(place).st_mode):
        os.unlink(place)
        raise OSError(ELOOP, "is no longer a regular file", listing.file(index))


def _fill(
    listing: Listing,
    target: str,
    put: Callable[[int, str], None],
    *,
    folders: Sequence[str] = (),
    existing: bool = False,
) -> None:
    """Put every object in its place, and make the folders; with `existing` some may be there already."""
    made = {""}
    path = ""

    def make_folders(below: str) -> None:
        parts = below.split("/")
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            if folder not in made:
                made.add(folder)
                if not (existing and os.path.isdir(f"{target}/{folder}")):
                    os.mkdir(f"{target}/{folder}")
                    os.chmod(f"{target}/{folder}", _DIRECTORY_MODE)  # regardless of the umask

    try:
        for index, path in enumerate(listing.paths):
            below = path.rpartition("/")[0]
            if below not in made:
                make_folders(below)
            put(index, f"{target}/{path}")
        for below in folders:
            make_folders(below)
    except OSError as error:
        raise _failed(listing, path, error) from error


def _make_folder(listing: Listing, path: str) -> None:
    try:
        os.mkdir(path)
        os.chmod(path, _DIRECTORY_MODE)  # regardless of the umask
    except OSError as error:
        raise _failed(listing, "", error) from error


def _failed(listing: Listing, path: str, error: OSError) -> StagingError:
    if error.errno in _FULL:
        reason = "Insufficient disk space"
    else:
        text = _S3_ERRORS.get(error.errno or 0, f"InternalError: {error.strerror}")
        reason = f"Unable to download object {listing.uri(path)} ({text})"
    return StagingError(f"Data download failed:{reason}", details=(str(error),))
