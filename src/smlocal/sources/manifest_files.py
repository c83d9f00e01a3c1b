"""Local files for the objects that a manifest names."""

import os
import stat
from collections.abc import Mapping
from dataclasses import replace

from smlocal.contract.listing import Listing
from smlocal.no_links import Opener
from smlocal.sources import source_errors
from smlocal.sources.file_permissions import SERVICE_MODE, readable
from smlocal.sources.invalid_keys import invalid_part
from smlocal.sources.local_listing import mode_of, special_devices
from smlocal.sources.local_path import cleaned, local_path
from smlocal.sources.mapping import longest_match
from smlocal.sources.selection import split_prefix
from smlocal.sources.source_errors import RequestedSource

_NO_SUCH_KEY = "NoSuchKey: The specified key does not exist."


def with_local_files(asked: RequestedSource, listing: Listing, mapping: Mapping[str, str]) -> Listing:
    """The listing with the local folder that is mapped to its prefix, if there is one."""
    folder_key = split_prefix(listing.key_base)[0]
    if listing.bucket_uri == "file:///":
        root = local_path(f"/{folder_key}", "/", asked.rights).rstrip("/") or "/"
    else:
        match = longest_match(f"{listing.bucket_uri}{folder_key}", mapping)
        if match is None:
            return listing
        if match.rest and invalid_part(match.rest.removesuffix("/")) is not None:
            return _missing(listing, 0) if listing.paths else listing
        mode_of(asked, local_path(match.value, asked.directory, asked.rights), match.value)
        root = cleaned(local_path(match.value, asked.directory, asked.rights, match.rest))
    local = replace(
        listing,
        root=root,
        root_key=folder_key if listing.keys or folder_key != listing.key_base else None,
        whole_tree=False,
        links=asked.rights.links,
    )
    if os.path.isdir(root):
        special_devices(asked, root)
    return _checked(asked, local)


def _checked(asked: RequestedSource, listing: Listing) -> Listing:
    """Check that every file exists and that this user may read it."""
    total = unlike = 0
    denied = []
    below = len(split_prefix(listing.key_base)[0])
    opener = None if listing.links else Opener(listing.root)
    for index in range(len(listing.paths)):
        if invalid_part(listing.key(index)[below:]) is not None:
            return _missing(listing, index)  # no file below the folder can have such a key
        file = listing.file(index)
        try:
            status = os.stat(file) if opener is None else _status(opener, listing.below_root(index))
        except PermissionError:
            denied.append(file)
            continue
        except OSError:
            return _missing(listing, index)
        if not stat.S_ISREG(status.st_mode):
            return _missing(listing, index)
        if not readable(file):
            denied.append(file)
        total += status.st_size
        unlike += stat.S_IMODE(status.st_mode) != SERVICE_MODE
    if denied:
        raise source_errors.unreadable(asked, denied)
    return replace(listing, total_bytes=total, unlike_service_modes=unlike)


def _status(opener: Opener, path: str) -> os.stat_result:
    """Of a file in whose path nothing is a link; `OSError` otherwise."""
    descriptor = opener.file(os.fsencode(path))
    try:
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _missing(listing: Listing, index: int) -> Listing:
    return listing.failed(f"Unable to download object {listing.uri_at(index)} ({_NO_SUCH_KEY})")
