"""Checkpoints brought to one host before its container is made: copies, for the container will write there."""

import os
import time
from collections.abc import Callable
from errno import EDQUOT, ENOSPC
from typing import TYPE_CHECKING

from smlocal.channels.copy import copy_into
from smlocal.channels.interface import Check, no_check
from smlocal.contract.checkpoints import Restored, Stamp
from smlocal.contract.listing import Listing
from smlocal.contract.outcome.failure_reason import client_error
from smlocal.errors import StagingError
from smlocal.removal import remove_tree
from smlocal.sources.progress import Meter, Progress

if TYPE_CHECKING:
    from smlocal.sources.s3.client import S3Client

_DIRECTORY_MODE = 0o755
_BEFORE_NS = 2_000_000_000
"""So much earlier than now are restored files: clocks of file systems tick slowly, some once a second."""


def download(
    listing: Listing, directory: str, *, draft: str, store: "S3Client", progress: Callable[[Progress], None]
) -> None:
    """Download all objects of a listing into the new folder `directory`, which is there when all of them are.

    A signal handler may break this off by an exception at any point. `StagingError` in the service's words.
    """
    from smlocal.channels.cache.sealed_tree import folders_of, make_folders
    from smlocal.channels.download_listing import check_paths, without_duplicates
    from smlocal.sources.s3.download import download_all
    from smlocal.sources.s3.interface import S3Error
    from smlocal.sources.s3_listing import s3_object

    if listing.failure is not None:
        raise StagingError(client_error(f"Data download failed:{listing.failure}"))
    wanted = without_duplicates(listing)
    check_paths(wanted)
    remove_tree(draft)
    try:
        make_folders(draft, folders_of(wanted.paths, ()))
        places = ((s3_object(wanted, index), f"{draft}/{path}") for index, path in enumerate(wanted.paths))
        meter = Meter(progress, total_bytes=wanted.total_bytes, total_objects=len(wanted.paths))
        download_all(store, places, progress=meter.add)
        meter.finish()
        os.rename(draft, directory)
    except S3Error as error:
        from smlocal.sources.s3.failure_reasons import download_failure

        words = client_error(f"Data download failed:{download_failure(error)}")
        raise StagingError(words, details=(str(error),)) from error
    except OSError as error:
        why = "Insufficient disk space" if error.errno in {ENOSPC, EDQUOT} else f"InternalError: {error.strerror}"
        raise StagingError(client_error(f"Data download failed:{why}"), details=(str(error),)) from error
    finally:
        remove_tree(draft)


def restore(listing: Listing, target_directory: str, *, check: Check = no_check) -> Restored:
    """Copy every checkpoint below `target_directory`, which is made if need be; what was put there is the answer.

    Files get mode 0644, folders 0755, and the time of now, or almost, as from a download. `StagingError` when it fails.
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
    os.chmod(path, _DIRECTORY_MODE)  # whatever the umask


def _stamped(path: str, moment: int) -> Stamp:
    """Whoever writes into the file from now on gives it another time than this one."""
    os.utime(path, ns=(moment, moment))
    status = os.lstat(path)
    return Stamp(size=status.st_size, mtime_ns=status.st_mtime_ns, inode=status.st_ino)
