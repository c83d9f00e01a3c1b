"""Who supervises a job: the one process that holds the lock on the job's folder, for as long as it lives."""

import fcntl
import os
import time
import weakref
from types import TracebackType
from typing import Self

_TRIES, _PAUSE = 3, 0.002
"""Somebody who only looks has it for an instant."""
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


_HELD: "weakref.WeakSet[Lease]" = weakref.WeakSet()


class Lease:
    """Held by one process at a time; the kernel takes it back from a process that dies, however it dies."""

    def __init__(self, descriptor: int) -> None:
        """Use `Lease.take`."""
        self._descriptor = descriptor
        _HELD.add(self)

    @classmethod
    def take(cls, directory: str) -> Self | None:
        """The lease of the job in this folder, or None while another process has it."""
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
        """A look at whether somebody has the lease: two who look do not see each other."""
        return cls._lock(directory, fcntl.LOCK_SH, tries=1)

    def release(self) -> None:
        """Give it back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        """Give it back when it was dropped, as by a job whose record could not be committed."""
        self.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()


def _forget() -> None:
    """A child of a fork has the same open folder, and would hold the lock for as long as it lives."""
    for lease in list(_HELD):
        lease.release()


os.register_at_fork(after_in_child=_forget)


def supervised(directory: str) -> bool:
    """True while a living process supervises the job in this folder."""
    try:
        lease = Lease.look(directory)
    except OSError:  # no folder, nobody in it
        return False
    if lease is None:
        return True
    lease.release()
    return False
