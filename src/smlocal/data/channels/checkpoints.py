"""Checkpoints for one host before its container is created: copies, because the container writes to them."""

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from smlocal.base.removal import remove_tree
from smlocal.data.channels.cache.folder import folders_of, make_folders
from smlocal.data.channels.copy import copy_into
from smlocal.data.channels.download_channel import downloadable, service_errors
from smlocal.data.channels.interface import Check, no_check
from smlocal.data.sources.progress import Meter, Progress
from smlocal.data.sources.s3.interface import listed_object
from smlocal.terms.checkpoints import Restored, Stamp
from smlocal.terms.listing import Listing

if TYPE_CHECKING:
    from smlocal.data.sources.s3.client import S3Client

_DIRECTORY_MODE = 0o755
_BEFORE_NS = 2_000_000_000
"""Restored files are this much older than now: some file systems keep times in whole seconds."""


def download(
    listing: Listing, directory: str, *, draft: str, store: "S3Client", progress: Callable[[Progress], None]
) -> None:
    """Download all objects of a listing into the new folder `directory`, which exists only when it is complete.

    A signal handler may raise at any point. `StagingError` in the service's words.
    """
    from smlocal.data.sources.s3.download import download_all

    wanted = downloadable(listing)
    remove_tree(draft)
    try:
        with service_errors():
            make_folders(draft, folders_of(wanted.paths))
            places = ((listed_object(wanted, index), f"{draft}/{path}") for index, path in enumerate(wanted.paths))
            meter = Meter(progress, total_bytes=wanted.total_bytes, total_objects=len(wanted.paths))
            download_all(store, places, progress=meter.add)
            meter.finish()
            os.rename(draft, directory)
    finally:
        remove_tree(draft)


def restore(listing: Listing, target_directory: str, *, check: Check = no_check) -> Restored:
    """Copy every checkpoint below `target_directory`, which is made if necessary; return the copied files.

    Files get mode 0644, folders 0755, and a modification time just before now, as a download has. `StagingError` if it
    fails.
    """
    _make_folders(target_directory)
    copy_into(listing, target_directory, check=check)
    moment = time.time_ns() - _BEFORE_NS
    return Restored(
        directory=target_directory,
        files={path: _stamped(f"{target_directory}/{path}", moment) for path in listing.paths},
    )


def _make_folders(path: str) -> None:
    if os.path.isdir(path):
        return
    _make_folders(os.path.dirname(path))
    os.mkdir(path)
    os.chmod(path, _DIRECTORY_MODE)  # regardless of the umask


def _stamped(path: str, moment: int) -> Stamp:
    """Set the modification time: a later write gives the file another one."""
    os.utime(path, ns=(moment, moment))
    status = os.lstat(path)
    return Stamp(size=status.st_size, mtime_ns=status.st_mtime_ns, inode=status.st_ino)
