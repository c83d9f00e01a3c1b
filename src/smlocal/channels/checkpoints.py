"""Checkpoints brought to one host before its container is made: copies, for the container will write there."""

import os
import time

from smlocal.channels.copy import copy_into
from smlocal.contract.checkpoints import Restored, Stamp
from smlocal.contract.listing import Listing

_DIRECTORY_MODE = 0o755
_BEFORE_NS = 2_000_000_000
"""So much earlier than now are restored files: clocks of file systems tick slowly, some once a second."""


def restore(listing: Listing, target_directory: str) -> Restored:
    """Copy every checkpoint below `target_directory`, which is made if need be; what was put there is the answer.

    Files get mode 0644, folders 0755, and the time of now, or almost, as from a download. `StagingError` when it fails.
    """
    _make_folders(target_directory)
    copy_into(listing, target_directory)
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
