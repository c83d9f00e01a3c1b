"""Copy one file of a host to the target. It may be written to at any time, but only complete copies are visible.

Decisions that cannot be made while the container runs are left to the save at the end of the job (`save`).
"""

import errno
import fcntl
import math
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from signal import SIGURG

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.artifacts.mirror.target import (
    FileChangedError,
    MirrorState,
    OpenTarget,
    PathConflictError,
    always,
    unnamed_copy,
)
from smlocal.terms.checkpoints import Stamp

_CLOCK_TICK_SECONDS = 0.02
"""The file system's clock may give two writes within this time the same mtime."""
_SMALL = 1 << 20
_NO_INODE = 0
_QUIET_SECONDS = 5.0
"""If the kernel does not tell whether a file is being written, it is complete when it has not changed for so long."""
_RETRY_SECONDS = 0.1
"""When to look again at a file that is being written."""
_TRIES = 25
"""To find a moment when a file that is written all the time is complete; they take a few milliseconds together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileCopier:
    """Copies files of one host."""

    host: str
    state: MirrorState
    known: dict[bytes, Stamp]
    """The files of this host that are at the target."""
    grows: bool
    """True for logs: the current content of files that stay open is copied too."""

    def copy(self, path: bytes, source: int, *, closed: bool, target: Callable[[], OpenTarget]) -> float | None:
        """Copy an open file; `closed` if an event said that its writer has closed it.

        None if the target has it. Otherwise the seconds after which to try again: infinite if only after another
        change.
        """
        status = os.fstat(source)
        if not stat.S_ISREG(status.st_mode) or stamp_of(status) == self.known.get(path):
            return math.inf
        began = time.monotonic()
        try:
            if 0 <= time.time() - status.st_mtime < _CLOCK_TICK_SECONDS:
                return self._copy_recent(path, source, status, target, tries=_TRIES if closed else 1)
            return self._copy_older(path, source, status, target, closed=closed)
        except FileChangedError:
            return max(_RETRY_SECONDS, time.monotonic() - began)
        except PathConflictError:
            return math.inf  # the save at the end reports it, if the conflict still exists then

    def _copy_recent(
        self, path: bytes, source: int, status: os.stat_result, target: Callable[[], OpenTarget], *, tries: int
    ) -> float | None:
        """Copy a file that has just been written: another write may not change its mtime, so check for writers."""
        if self.grows:
            self._write(path, source, status, target, recent=True)
            return None
        data = read_unwritten(source, most=_SMALL, tries=tries) if status.st_size <= _SMALL else None
        if data is None:
            return math.inf if has_writer(source) else _RETRY_SECONDS
        with unnamed_copy() as copy:
            copy.write(data)
            self._write(path, copy.fileno(), status, target, recent=True)
        return None

    def _copy_older(
        self, path: bytes, source: int, status: os.stat_result, target: Callable[[], OpenTarget], *, closed: bool
    ) -> float | None:
        if self.grows:
            self._write(path, source, status, target)
            return None
        writer = has_writer(source)
        if writer:
            return math.inf
        if writer is None and not closed and time.time() - status.st_mtime < _QUIET_SECONDS:
            return _QUIET_SECONDS
        self._write(path, source, status, target, unchanged=lambda: _is_unchanged(source, status))
        return None

    def _write(
        self,
        path: bytes,
        source: int,
        status: os.stat_result,
        target: Callable[[], OpenTarget],
        *,
        recent: bool = False,
        unchanged: Callable[[], bool] = always,
    ) -> None:
        # The mtime of a recent file does not show a later write. Without an inode, no file matches the stamp, so the
        # save at the end copies it again.
        stamp = replace(stamp_of(status), inode=_NO_INODE) if recent else stamp_of(status)
        shown = os.fsdecode(path)
        if path not in self.known:
            self.state.writing(self.host, shown)
        target().write(path, source, mtime=status.st_mtime_ns // 1_000_000_000, unchanged=unchanged)
        self.known[path] = stamp
        self.state.written(self.host, shown, stamp)


def stamp_of(status: os.stat_result) -> Stamp:
    """The values that tell whether a file has changed."""
    return Stamp(size=status.st_size, mtime_ns=status.st_mtime_ns, inode=status.st_ino)


def _is_unchanged(descriptor: int, before: os.stat_result) -> bool:
    return _times(os.fstat(descriptor)) == _times(before) and not has_writer(descriptor)


def _times(status: os.stat_result) -> tuple[int, int, int]:
    """A write changes at least the ctime, even if the mtime is set back."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


# Find out whether a file is being written, and read a file that is written all the time.
#
# The kernel grants a read lease only on a file that no process has open for writing. Opening it for writing then waits
# until the lease is released. So it is held only while a small file is read.

_LEASE_RETRY_SECONDS = 0.0002


def has_writer(descriptor: int) -> bool | None:
    """True if the file is open for writing; None if the kernel does not tell this user."""
    with _lease(descriptor) as written:
        return written


def read_unwritten(descriptor: int, *, most: int, tries: int = 1) -> bytes | None:
    """Read a small file while no process writes it.

    None if it was being written at each try, if it is larger than `most`, or if the kernel does not tell.
    """
    for left in reversed(range(tries)):
        with _lease(descriptor) as written:
            data = os.pread(descriptor, most + 1, 0) if written is False else None
        if data is not None:
            return data if len(data) <= most else None
        if written is None or not left:
            return None
        time.sleep(_LEASE_RETRY_SECONDS)
    return None


@contextmanager
def _lease(descriptor: int) -> Iterator[bool | None]:
    """Yield whether the file has a writer; if not, there can be none inside the `with` block."""
    written = _take_lease(descriptor)
    try:
        yield written
    finally:
        if written is False:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def _take_lease(descriptor: int) -> bool | None:
    """As `has_writer`: if there is none, the lease is held."""
    written = None
    if sys.platform == "linux":
        try:
            # The default signal for "somebody waits for the lease" would end this process; SIGURG is ignored.
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            written = False
        except OSError as error:
            written = True if error.errno == errno.EAGAIN else None
    return written
