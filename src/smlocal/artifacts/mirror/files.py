"""How one file of a host comes to the place where all hosts' files go: whole, or not yet.

It may be written at any time. What cannot be decided while the container runs is left to the save at the end.
"""

import math
import os
import stat
import time
from collections.abc import Callable
from dataclasses import replace

from smlocal.artifacts.destination import ChangedError, InTheWayError
from smlocal.artifacts.mirror.journal import Journal
from smlocal.artifacts.mirror.place import Place, always
from smlocal.artifacts.mirror.writers import has_writer, read_whole
from smlocal.contract.checkpoints import Stamp
from smlocal.quick_dataclass import dataclass

_TICK_SECONDS = 0.02
"""Two writes within a tick of the file system's clock look like one."""
_SMALL = 1 << 20
_NO_INODE = 0
_QUIET_SECONDS = 5.0
"""After so long a file counts as whole where nobody can say whether it is still being written."""
_SOON_SECONDS = 0.1
"""After this time a file that was written to meanwhile is looked at again."""
_TRIES = 25
"""To find a moment at which a file that is written all the time is not; a few milliseconds in all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Files:
    """Of one host."""

    host: str
    journal: Journal
    known: dict[bytes, Stamp]
    """What the target has of this host."""
    grows: bool
    """True for logs: a file that stays open is mirrored as far as it goes."""

    def copy(self, path: bytes, source: int, *, closed: bool, place: Callable[[], Place]) -> float | None:
        """Bring an open file to the place; `closed` when there was word of a writer who has closed it.

        None when it is there. Else the seconds after which to look again: infinite when there is nothing to do before
        there is word of another change.
        """
        status = os.fstat(source)
        if not stat.S_ISREG(status.st_mode) or stamp_of(status) == self.known.get(path):
            return math.inf
        began = time.monotonic()
        try:
            if _is_fresh(status):
                return self._copy_fresh(path, source, status, place, tries=_TRIES if closed else 1)
            return self._copy_old(path, source, status, place, closed=closed)
        except ChangedError:
            return max(_SOON_SECONDS, time.monotonic() - began)
        except InTheWayError:
            return math.inf  # told by the save at the end, if it is still so

    def _copy_fresh(
        self, path: bytes, source: int, status: os.stat_result, place: Callable[[], Place], *, tries: int
    ) -> float | None:
        """One that was written a moment ago may be written all the time: see to it that it is not just now."""
        if self.grows:
            self._write(path, source, status, place, fresh=True)
            return None
        data = read_whole(source, most=_SMALL, tries=tries) if status.st_size <= _SMALL else None
        if data is None:
            return math.inf if has_writer(source) else _SOON_SECONDS
        with open(os.memfd_create("mirror"), "w+b") as copy:
            copy.write(data)
            copy.flush()
            self._write(path, copy.fileno(), status, place, fresh=True)
        return None

    def _copy_old(
        self, path: bytes, source: int, status: os.stat_result, place: Callable[[], Place], *, closed: bool
    ) -> float | None:
        if self.grows:
            self._write(path, source, status, place)
            return None
        writer = has_writer(source)
        if writer:
            return math.inf
        if writer is None and not closed and time.time() - status.st_mtime < _QUIET_SECONDS:
            return _QUIET_SECONDS
        self._write(path, source, status, place, unchanged=lambda: _is_still(source, status))
        return None

    def _write(
        self,
        path: bytes,
        source: int,
        status: os.stat_result,
        place: Callable[[], Place],
        *,
        fresh: bool = False,
        unchanged: Callable[[], bool] = always,
    ) -> None:
        # Of a fresh file the time does not tell whether somebody writes it again: then the save at the end does so.
        stamp = replace(stamp_of(status), inode=_NO_INODE) if fresh else stamp_of(status)
        shown = os.fsdecode(path)
        if path not in self.known:
            self.journal.arriving(self.host, shown)
        place().write(path, source, mtime=status.st_mtime_ns // 1_000_000_000, unchanged=unchanged)
        self.known[path] = stamp
        self.journal.arrived(self.host, shown, stamp)


def stamp_of(status: os.stat_result) -> Stamp:
    """By which a file is known again."""
    return Stamp(size=status.st_size, mtime_ns=status.st_mtime_ns, inode=status.st_ino)


def _is_fresh(status: os.stat_result) -> bool:
    """True when somebody may write to it within the same tick of the clock, which changes nothing that can be seen."""
    return 0 <= time.time() - status.st_mtime < _TICK_SECONDS


def _is_still(descriptor: int, before: os.stat_result) -> bool:
    return _state(os.fstat(descriptor)) == _state(before) and not has_writer(descriptor)


def _state(status: os.stat_result) -> tuple[int, int, int]:
    """Whoever writes changes one of them; the last one even who then sets the time back."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns
