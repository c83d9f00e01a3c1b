"""The folder with the job records: `$SMLOCAL_HOME`, or else the platform's data directory."""

import errno
import os
import sys

from smlocal.base.files import free_bytes
from smlocal.errors import HomeUnusableError

_SET_HOME = "Set SMLOCAL_HOME to a folder of your own on a local disk."
_LEAST_FREE_BYTES = 256 << 10


def home_directory() -> str:
    """Absolute path of the home of smlocal. It is not made or checked."""
    chosen = os.environ.get("SMLOCAL_HOME")
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    base = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(base):  # the XDG specification says to ignore a relative one
        base = os.path.expanduser("~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share")
    if not os.path.isabs(base):
        raise HomeUnusableError(
            "There is no home folder for the job records.",
            details=["HOME is not set and this user has no entry in the password database."],
            remedy=[_SET_HOME],
        )
    return os.path.join(base, "smlocal")


def prepare_home(home: str) -> str:
    """Make the home, readable by its owner only, or check that it can be used; returns its real path."""
    _check_name(home)
    _check_name(os.path.realpath(home))
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        status = os.stat(home)
    except OSError as error:
        raise home_unusable(home, error) from error
    if status.st_uid != os.geteuid():
        raise HomeUnusableError(
            f"The folder with the job records belongs to another user: {home}",
            details=[f"Its owner is uid {status.st_uid}; you are uid {os.geteuid()}."],
            remedy=[_SET_HOME],
        )
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        raise home_unusable(home, OSError(errno.EACCES, os.strerror(errno.EACCES)))
    try:
        os.mkdir(os.path.join(home, "jobs"), 0o700)
    except FileExistsError:
        pass
    except OSError as error:
        raise home_unusable(home, error) from error
    return os.path.realpath(home)


def _check_name(home: str) -> None:
    """Check that the path is UTF-8: the engine gets paths of job folders as JSON."""
    try:
        home.encode()
    except UnicodeEncodeError as error:
        shown = os.fsencode(home).decode("utf-8", "backslashreplace")
        raise HomeUnusableError(
            f"The path of the folder with the job records is not UTF-8: {shown}",
            details=["The engine accepts only UTF-8 paths, and containers mount folders in it."],
            remedy=[_SET_HOME],
        ) from error


def home_unusable(home: str, cause: Exception) -> HomeUnusableError:
    """The error for a home that cannot be used."""
    why = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    number = cause.errno if isinstance(cause, OSError) else None
    if number in {errno.ENOSPC, errno.EDQUOT} or "disk is full" in why or ("disk I/O" in why and _full(home)):
        return HomeUnusableError(
            f"The disk with the job records is full: {home}",
            details=[why],
            remedy=["Free some space there (`smlocal rm NAME` deletes a job), or", _SET_HOME],
        )
    return HomeUnusableError(
        f"The folder with the job records cannot be used: {home}", details=[why], remedy=[_SET_HOME]
    )


def _full(home: str) -> bool:
    """True if there is no room even for SQLite's small shared files, which it reports as an I/O error."""
    free = free_bytes(home)
    return free is not None and free < _LEAST_FREE_BYTES
