"""The folder with the job records: `$SMLOCAL_HOME`, or else the platform's data directory.

Also marks in it, by which the next process finishes what a killed one had begun with the folder of a job.
"""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from smlocal.base.files import free_bytes
from smlocal.errors import HomeUnusableError

_SET_HOME = "Set SMLOCAL_HOME to a folder of your own on a local disk."
_LEAST_FREE_BYTES = 256 << 10
_REMOVED: Final = "removed"
"""The folder in the home with those of removed jobs, each named by the process that removes it."""
_BEGUN: Final = "begun"
"""The folder in the home with the names of jobs that are being recorded, each after the number of its process."""
_TRIES: Final = 1000
"""Another process may remove the empty folder at any moment."""


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


def shells_directory(home: str) -> str:
    """The folder for files of `smlocal shell`; the first shell makes it."""
    return os.path.join(home, "shells")


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


def move_aside(home: str, folder: str, *, run_id: str) -> str:
    """Move the folder of a job away, which frees its name at once. A link is moved itself."""
    removed = os.path.join(home, _REMOVED)
    aside = os.path.join(removed, f"{os.getpid()}-{run_id}-{os.path.basename(folder)}")

    def move() -> None:
        if os.path.lexists(folder):
            os.rename(folder, aside)

    _do_in(removed, move)
    return aside


def moved_by_dead(home: str) -> Iterator[tuple[str, str, str]]:
    """Folders that processes have moved away which are gone: the path, the run and the name of the job."""
    for path, rest in _of_dead(os.path.join(home, _REMOVED)):
        run_id, _, name = rest.partition("-")
        yield path, run_id, name


def mark_begun(home: str, name: str) -> None:
    """Say that this process makes the folder of a job, which is not recorded yet."""
    begun = os.path.join(home, _BEGUN)
    _do_in(begun, lambda: os.makedirs(_mark(begun, name), mode=0o700, exist_ok=True))


def _do_in(folder: str, do: Callable[[], None]) -> None:
    """Make the folder and do something in it, again if another process has removed the folder meanwhile."""
    for left in reversed(range(_TRIES)):
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)  # FileExistsError: it was there, and is no more
            do()
        except (FileExistsError, FileNotFoundError):
            if not left:
                raise
        else:
            return


def unmark_begun(home: str, name: str) -> None:
    """The job is recorded, or its folder is removed."""
    begun = os.path.join(home, _BEGUN)
    with suppress(OSError):
        os.rmdir(_mark(begun, name))
        os.rmdir(begun)


def begun_by_dead(home: str) -> Iterator[tuple[str, str]]:
    """Jobs that processes have begun to record which are gone: the mark to remove, and the name."""
    yield from _of_dead(os.path.join(home, _BEGUN))


def _mark(begun: str, name: str) -> str:
    return os.path.join(begun, f"{os.getpid()}-{name}")


def _of_dead(folder: str) -> Iterator[tuple[str, str]]:
    """Entries `PROCESS-REST` of processes that are gone, as path and rest. An empty folder is removed then."""
    try:
        entries = os.listdir(folder)
    except FileNotFoundError:
        return
    for entry in entries:
        owner, _, rest = entry.partition("-")
        if owner.isdigit() and not _alive(int(owner)):
            yield os.path.join(folder, entry), rest
    with suppress(OSError):
        os.rmdir(folder)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
