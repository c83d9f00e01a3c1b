"""The lock on a job's folder. The supervisor of the job holds it as long as the process lives."""

import fcntl
import os
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from smlocal.jobs.store.records import JobRecord

_UNFINISHED = ".new"
_TRIES, _PAUSE = 3, 0.002
"""A process that only checks the lock holds it for a moment."""
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


_HELD: "weakref.WeakSet[Lease]" = weakref.WeakSet()


class Lease:
    """Held by one process at a time. The kernel releases it when the process ends, even if it is killed."""

    def __init__(self, descriptor: int) -> None:
        """Use `Lease.take`."""
        self._descriptor = descriptor
        _HELD.add(self)

    @classmethod
    def take(cls, directory: str) -> Self | None:
        """Take the lease of the job in this folder; None if another process holds it."""
        return cls._lock(directory, fcntl.LOCK_EX, tries=_TRIES)

    @classmethod
    def _lock(cls, directory: str, kind: int, *, tries: int) -> Self | None:
        descriptor = os.open(directory, _OPEN)
        for _ in range(tries):
            try:
                fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_PAUSE)
            else:
                return cls(descriptor)
        os.close(descriptor)
        return None

    @classmethod
    def look(cls, directory: str) -> Self | None:
        """A shared lock, to check whether a process holds the lease; several checks do not block each other."""
        return cls._lock(directory, fcntl.LOCK_SH, tries=1)

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        """Release the lock of a lease that was not used, as when the job's record could not be committed."""
        self.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()


def _release_after_fork() -> None:
    """Release the locks in a forked process, which would otherwise hold them as long as it lives."""
    for lease in list(_HELD):
        lease.release()


os.register_at_fork(after_in_child=_release_after_fork)


def supervised(directory: str) -> bool:
    """True while a living process supervises the job in this folder."""
    try:
        lease = Lease.look(directory)
    except OSError:  # there is no folder
        return False
    if lease is None:
        return True
    lease.release()
    return False


def take_unfinished(directory: str, find: Callable[[], JobRecord]) -> Lease | None:
    """Take the lease of an unfinished job; None as for `take`. If its folder was deleted, it is made again.

    `find` gives the record of the job, and is called only if there is no folder.
    """
    try:
        return Lease.take(directory)
    except FileNotFoundError:
        record = find()
        if record.status.terminal or _held_without_folder(directory, record.supervisor_pid):
            return None
        os.makedirs(directory, mode=0o700, exist_ok=True)
        return Lease.take(directory)


def _held_without_folder(directory: str, pid: int | None) -> bool:
    """True if this process has the deleted folder open, and so holds its lease. Without /proc, always False."""
    descriptors, gone = f"/proc/{pid}/fd", f"{os.path.realpath(directory)} (deleted)"
    with suppress(OSError):
        for each in os.listdir(descriptors):
            with suppress(OSError):
                if os.readlink(f"{descriptors}/{each}") == gone:
                    return True
    return False


def make_leased(folder: str) -> Lease | None:
    """Make a folder that others remove once its lease is free: this process takes it before they see the folder."""
    unfinished = folder + _UNFINISHED
    os.makedirs(unfinished, mode=0o700)
    lease = Lease.take(unfinished)
    os.rename(unfinished, folder)
    return lease


def leased_folders(parent: str) -> list[str]:
    """Folders made so in `parent`, whether a process still has the lease or not."""
    try:
        names = os.listdir(parent)
    except FileNotFoundError:
        return []
    return [os.path.join(parent, name) for name in names if not name.endswith(_UNFINISHED)]
