"""One host's folder: what has changed in it, and what is to be done about that.

The container is root in the folder and may do there what it likes at any time: everything is opened step by step from
the folder down, never through a link.
"""

import errno
import math
import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from smlocal.artifacts.inotify import (
    CLOSE_WRITE,
    CREATE,
    DELETE_SELF,
    IS_FOLDER,
    MOVE_SELF,
    MOVED_FROM,
    MOVED_TO,
    Event,
)
from smlocal.artifacts.mirror.agenda import Agenda
from smlocal.artifacts.mirror.files import Files, stamp_of
from smlocal.artifacts.mirror.journal import Journal
from smlocal.artifacts.mirror.place import Place
from smlocal.artifacts.mirror.watches import Watches
from smlocal.artifacts.safe_open import Reach
from smlocal.contract.checkpoints import UPLOADING, Restored

SCAN_SECONDS = 5.0
"""Between two looks through folders that cannot be watched."""
_TRY_AGAIN_SECONDS = 15.0
"""After trouble."""
_UPLOADING = os.fsencode(UPLOADING)
_AWAY = {errno.ENOENT}
_ODD = {errno.ENOTDIR, errno.ELOOP, errno.ENXIO}
_DENIED = {errno.EACCES, errno.EPERM}


@dataclass(kw_only=True, slots=True)
class HostMirror:
    """Belongs to one thread."""

    host: str
    root: bytes
    """The folder here that the container sees."""
    given: Restored
    journal: Journal
    watches: Watches
    note: Callable[[str], None]
    grows: bool = False
    """True for logs: a file that stays open is mirrored as far as it goes."""
    _agenda: Agenda = field(default_factory=Agenda)
    _closed: set[bytes] = field(default_factory=set)
    """On the agenda, and no writer had them open when that was said."""
    _files: Files = field(init=False)
    _reach: Reach = field(init=False)
    _scan_at: float | None = None

    def __post_init__(self) -> None:
        self._reach = Reach(self.root)
        stamps = self.journal.stamps(self.host, self.given.files)
        self._files = Files(
            host=self.host,
            journal=self.journal,
            known={os.fsencode(path): stamp for path, stamp in stamps.items()},
            grows=self.grows,
        )

    @property
    def wake_at(self) -> float:
        """When there is something to do although nothing happens."""
        return self._agenda.wake_at if self._scan_at is None else min(self._agenda.wake_at, self._scan_at)

    def compare(self) -> None:
        """Look through the whole folder, as at the beginning and when events were lost."""
        self.watches.drop(self.host, b"")
        self._scan_at = None
        now = time.monotonic()
        seen = self._look_through(b"", now)
        for path in self._files.known:
            if path not in seen:
                self._agenda.add(path, now)

    def hear(self, folder: bytes, event: Event) -> None:
        """Something has happened in a folder, or to it."""
        now = time.monotonic()
        if event.mask & (DELETE_SELF | MOVE_SELF):
            if not folder:
                self._scan_at = now + SCAN_SECONDS  # there may be another in its place some day
            return
        path = folder + b"/" + event.name if folder else event.name
        if not event.mask & IS_FOLDER:
            self._agenda.add(path, now)
            if event.mask & (CLOSE_WRITE | MOVED_TO):
                self._closed.add(path)
        elif event.mask & MOVED_FROM:
            self.watches.drop(self.host, path)
            for each in self._files.known:
                if each.startswith(path + b"/"):
                    self._agenda.add(each, now)
        elif event.mask & (CREATE | MOVED_TO):
            self._look_through(path, now)

    def work(self, place: Callable[[], Place], stopped: Callable[[], bool]) -> None:
        """Do what is due; between two files it is looked whether there is still time."""
        now = time.monotonic()
        if self._scan_at is not None and now >= self._scan_at:
            self.compare()
        due = self._agenda.take(now)
        self._reach.close()  # a folder that was open may be another by now
        # First what is gone: it may have the place of what has come.
        there: list[bytes] = []
        for index, path in enumerate(due):
            if stopped():
                self._agenda.put_back([*there, *due[index:]])
                return
            if not self._away(path, place):
                there.append(path)
        for index, path in enumerate(there):
            if stopped():
                self._agenda.put_back(there[index:])
                return
            self._bring(path, place)

    def close(self) -> None:
        """Let go of the folder."""
        self._reach.close()

    def _look_through(self, top: bytes, now: float) -> set[bytes]:
        """Watch a folder and all below, and take note of what is not as the target has it; all files there."""
        self._reach.close()  # as in `work`
        seen: set[bytes] = set()
        pending = [top]
        while pending:
            parent = pending.pop()
            try:
                folder = self._reach.directory(parent)
                if not self.watches.add(self.host, parent, folder):
                    self._cannot_watch(now)
                # After the watch is there, so that nothing falls between.
                with os.scandir(folder) as entries:
                    for entry in entries:
                        name = os.fsencode(entry.name)
                        path = parent + b"/" + name if parent else name
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(path)
                        elif entry.is_file(follow_symlinks=False):
                            seen.add(path)
                            if stamp_of(entry.stat(follow_symlinks=False)) != self._files.known.get(path):
                                self._agenda.add(path, now)
            except OSError as error:
                self._no_folder(parent, error, now)
        return seen

    def _no_folder(self, path: bytes, error: OSError, now: float) -> None:
        if error.errno in _DENIED:
            self.note(
                f"{self.host}: {os.fsdecode(path) or 'the folder'} cannot be listed by your user while the job runs"
            )
        elif not path:
            self._scan_at = now + SCAN_SECONDS

    def _cannot_watch(self, now: float) -> None:
        self.note(
            f"{self.host}: not all folders can be watched (fs.inotify.max_user_watches or max_user_instances is too "
            f"low); they were scanned every {SCAN_SECONDS:g} s instead"
        )
        self._scan_at = now + SCAN_SECONDS

    def _away(self, path: bytes, place: Callable[[], Place]) -> bool:
        """Delete at the place what this host had and has no more; True when there is nothing left to do for a path."""
        if path.endswith(_UPLOADING):
            return True
        above, _, name = path.rpartition(b"/")
        try:
            mode = os.stat(name, dir_fd=self._reach.directory(above), follow_symlinks=False).st_mode
        except OSError as error:
            if error.errno not in _AWAY:
                return True  # such as a link on the way
        else:
            if not stat.S_ISDIR(mode):
                return not stat.S_ISREG(mode)
        self._closed.discard(path)
        if path in self._files.known:
            with self._troubles(path):
                shown = os.fsdecode(path)
                if self.journal.owners.get(shown, self.host) == self.host:
                    place().delete(path)
                self.journal.gone(self.host, shown)
                del self._files.known[path]
        return True

    def _bring(self, path: bytes, place: Callable[[], Place]) -> None:
        with self._troubles(path):
            try:
                source = self._reach.file(path)
            except OSError as error:
                if error.errno in _AWAY:
                    self._agenda.add(path, time.monotonic())
                elif error.errno in _DENIED:
                    self.note(f"{self.host}: {os.fsdecode(path)} cannot be read before the job has ended")
                elif error.errno not in _ODD:
                    raise
                return
            try:
                self._copy(path, source, place)
            finally:
                os.close(source)

    def _copy(self, path: bytes, source: int, place: Callable[[], Place]) -> None:
        began = time.monotonic()
        later = self._files.copy(path, source, closed=path in self._closed, place=place)
        now = time.monotonic()
        if later is None:
            self._agenda.copied(path, began, now)
        elif later < math.inf:
            self._agenda.put_off(path, now + later)
            return
        self._closed.discard(path)

    def _troubles(self, path: bytes) -> "_Troubles":
        return _Troubles(self, path)

    def trouble(self, path: bytes, error: OSError) -> None:
        """Tell it, and try again later: at the end at the latest it is right, or fails the job."""
        self.note(f"{self.host}: files could not be mirrored immediately: {error.strerror or error}")
        self._agenda.put_off(path, time.monotonic() + _TRY_AGAIN_SECONDS)


@dataclass(frozen=True, slots=True)
class _Troubles:
    """What goes wrong with one file concerns that file alone."""

    mirror: HostMirror
    path: bytes

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> bool:
        if not isinstance(error, OSError):
            return False
        self.mirror.trouble(self.path, error)
        return True
