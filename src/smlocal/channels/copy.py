"""Folders made from a listing: independent copies, or links that only ever serve as the lower layer of an overlay."""

import os
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from errno import EACCES, EDQUOT, ENOENT, ENOSPC, EPERM

from smlocal.channels.duplicate import Duplicator
from smlocal.channels.interface import Check, Means, no_check
from smlocal.contract.listing import Listing
from smlocal.contract.outcome.failure_reason import client_error
from smlocal.errors import StagingError
from smlocal.removal import remove_tree

_DIRECTORY_MODE = 0o755
_FULL = {ENOSPC, EDQUOT}
_WORDS = {
    ENOENT: "NoSuchKey: The specified key does not exist.",
    EACCES: "AccessDenied: Access Denied",
    EPERM: "AccessDenied: Access Denied",
}


def copy_tree(
    listing: Listing, target: str, *, folders: Sequence[str] = (), check: Check = no_check
) -> tuple[Means, int]:
    """Copy every object below the new folder `target`; say how, and how many bytes moved.

    Never by hard link: the container may write into these files. `folders` are there even when they stay empty.
    """
    duplicator = Duplicator(check=check)
    try:
        _fill(listing, target, duplicator.duplicate, folders=folders)
    except StagingError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in _FULL:
            with suppress(OSError):
                remove_tree(target)  # the database may lie on the same disk, and needs room to say what happened
        raise
    cloned = duplicator.reflinked > 0 and duplicator.bytes_copied == 0
    return Means.REFLINK if cloned else Means.COPY, duplicator.bytes_copied


def link_tree(listing: Listing, target: str, *, check: Check = no_check) -> int:
    """Bring a selection together in the new folder `target`, by hard link where possible; return the bytes copied.

    Its files may be the user's own: nothing may ever write, chmod or chown there. An overlay above it never does.
    """
    duplicator = Duplicator(check=check)

    def link_or_duplicate(source: str, place: str) -> None:
        check()
        try:
            # A link is followed by hand: link(2) would make a second name for the link itself.
            os.link(os.path.realpath(source) if os.path.islink(source) else source, place)
        except FileNotFoundError:
            raise
        except OSError:  # another device, too many links, or a file of somebody else that may not be linked to
            duplicator.duplicate(source, place)

    _fill(listing, target, link_or_duplicate)
    return duplicator.bytes_copied


def copy_into(listing: Listing, target: str, *, check: Check = no_check) -> int:
    """Copy every object below the folder `target`, which may hold folders already; return the bytes that moved."""
    duplicator = Duplicator(check=check)
    made = {below for below in _folders_of(listing) if os.path.isdir(f"{target}/{below}")}
    _fill(listing, target, duplicator.duplicate, made)
    return duplicator.bytes_copied


def _folders_of(listing: Listing) -> set[str]:
    found = {""}
    for below in {path.rpartition("/")[0] for path in listing.paths}:
        parts = below.split("/")
        found.update("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    return found


def _fill(
    listing: Listing,
    target: str,
    put: Callable[[str, str], None],
    existing: AbstractSet[str] = frozenset(),
    folders: Sequence[str] = (),
) -> None:
    """Make the folders, all but those that exist, and put every object in its place."""
    made = {"", *existing}
    path = ""
    try:
        if "" not in existing:
            _make_folder(target)
        for index, path in enumerate(listing.paths):
            below = path.rpartition("/")[0]
            if below not in made:
                _make_folders(target, below, made)
            put(listing.file(index), f"{target}/{path}")
        for below in folders:
            _make_folders(target, below, made)
    except OSError as error:
        raise _failed(listing, path, error) from error


def _make_folders(target: str, below: str, made: set[str]) -> None:
    parts = below.split("/")
    for depth in range(1, len(parts) + 1):
        folder = "/".join(parts[:depth])
        if folder not in made:
            _make_folder(f"{target}/{folder}")
            made.add(folder)


def _make_folder(path: str) -> None:
    os.mkdir(path)
    os.chmod(path, _DIRECTORY_MODE)  # whatever the umask


def _failed(listing: Listing, path: str, error: OSError) -> StagingError:
    if error.errno in _FULL:
        reason = "Insufficient disk space"
    else:
        words = _WORDS.get(error.errno or 0, f"InternalError: {error.strerror}")
        reason = f"Unable to download object {listing.uri(path)} ({words})"
    return StagingError(client_error(f"Data download failed:{reason}"), details=(str(error),))
