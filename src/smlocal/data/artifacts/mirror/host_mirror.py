"""Mirror the folder of one host: which files have changed, and copying or deleting them at the target.

The container is root in the folder and may change it at any time. So everything is opened without following links.
"""

import errno
import math
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Final

from smlocal.base.files import Opener
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.artifacts.mirror.file_copier import FileCopier, stamp_of
from smlocal.data.artifacts.mirror.inotify import (
    CLOSE_WRITE,
    CREATE,
    DELETE_SELF,
    IS_FOLDER,
    MOVE_SELF,
    MOVED_FROM,
    MOVED_TO,
    Event,
    Watches,
)
from smlocal.data.artifacts.mirror.target import MirrorState, OpenTarget
from smlocal.terms.checkpoints import UPLOADING, Restored

SCAN_SECONDS = 5.0
"""Between two scans of folders that cannot be watched."""
_RETRY_SECONDS = 15.0
"""After an error."""
_UPLOADING = os.fsencode(UPLOADING)
_DENIED = {errno.EACCES, errno.EPERM}
_NOT_A_FILE = {errno.ENOTDIR, errno.ELOOP, errno.ENXIO}


SETTLE_SECONDS: Final = 0.1
"""From the first change of a file to its copy, so that several changes are copied together."""
REPEAT_SECONDS: Final = 1.0
"""Least time between two copies of a file. Large files are copied for at most a tenth of the time."""
_SHARE = 10


@dataclass(kw_only=True, slots=True)
class Schedule:
    """Paths and the times at which they are due, on a monotonic clock."""

    _due: dict[bytes, float] = field(default_factory=dict)
    _not_before: dict[bytes, float] = field(default_factory=dict)

    def add(self, path: bytes, now: float) -> None:
        """The file may have changed."""
        if path not in self._due:
            self._due[path] = max(now + SETTLE_SECONDS, self._not_before.get(path, 0.0))

    def postpone(self, path: bytes, until: float) -> None:
        """The file cannot be copied before `until`."""
        self._due[path] = until

    def copied(self, path: bytes, began: float, now: float) -> None:
        """The file was copied from `began` to `now`."""
        if len(self._not_before) > len(self._due) + 1000:
            self._not_before = {each: until for each, until in self._not_before.items() if until > now}
        self._not_before[path] = now + max(REPEAT_SECONDS, _SHARE * (now - began))

    @property
    def next_due(self) -> float:
        """When the next path is due."""
        return min(self._due.values(), default=math.inf)

    def take_due(self, now: float) -> list[bytes]:
        """Remove the paths that are due, and return them sorted."""
        due = sorted(path for path, at in self._due.items() if at <= now)
        for path in due:
            del self._due[path]
        return due

    def put_back(self, paths: list[bytes]) -> None:
        """These paths were taken but not processed."""
        for path in paths:
            self._due.setdefault(path, 0.0)


@dataclass(kw_only=True, slots=True)
class HostMirror:
    """Used by one thread only."""

    host: str
    root: bytes
    """The local folder that the container sees."""
    restored: Restored
    state: MirrorState
    watches: Watches
    note: Callable[[str], None]
    grows: bool = False
    """True for logs: the current content of files that stay open is mirrored too."""
    _schedule: Schedule = field(default_factory=Schedule)
    _closed: set[bytes] = field(default_factory=set)
    """Scheduled paths whose last event said that the writer has closed the file."""
    _copier: FileCopier = field(init=False)
    _opener: Opener = field(init=False)
    _scan_at: float | None = None

    def __post_init__(self) -> None:
        self._opener = Opener(self.root)
        at_target = self.state.up_to_date(self.host, self.restored).files
        self._copier = FileCopier(
            host=self.host,
            state=self.state,
            known={os.fsencode(path): stamp for path, stamp in at_target.items()},
            grows=self.grows,
        )

    @property
    def next_due(self) -> float:
        """When there is something to do, if no event comes before."""
        return self._schedule.next_due if self._scan_at is None else min(self._schedule.next_due, self._scan_at)

    def scan(self) -> None:
        """Compare the whole folder with the target, as at the start and after lost events."""
        self.watches.remove(self.host, b"")
        self._scan_at = None
        now = time.monotonic()
        present = self._scan_folder(b"", now)
        for path in self._copier.known:
            if path not in present:
                self._schedule.add(path, now)

    def handle(self, folder: bytes, event: Event) -> None:
        """Schedule what an event in a folder is about."""
        now = time.monotonic()
        if event.mask & (DELETE_SELF | MOVE_SELF):
            if not folder:
                self._scan_at = now + SCAN_SECONDS  # the container may make the folder again
            return
        path = folder + b"/" + event.name if folder else event.name
        if not event.mask & IS_FOLDER:
            self._schedule.add(path, now)
            if event.mask & (CLOSE_WRITE | MOVED_TO):
                self._closed.add(path)
        elif event.mask & MOVED_FROM:
            self.watches.remove(self.host, path)
            for each in self._copier.known:
                if each.startswith(path + b"/"):
                    self._schedule.add(each, now)
        elif event.mask & (CREATE | MOVED_TO):
            self._scan_folder(path, now)

    def mirror_due(self, target: Callable[[], OpenTarget], stopping: Callable[[], bool]) -> None:
        """Mirror the files that are due. `stopping` is asked before each file."""
        now = time.monotonic()
        if self._scan_at is not None and now >= self._scan_at:
            self.scan()
        due = self._schedule.take_due(now)
        self._opener.close()  # the container may have replaced an open folder
        # Deletions first, because a new file may need the name of a deleted folder, or the other way round.
        present: list[bytes] = []
        for index, path in enumerate(due):
            if stopping():
                self._schedule.put_back([*present, *due[index:]])
                return
            if not self._delete_if_gone(path, target):
                present.append(path)
        for index, path in enumerate(present):
            if stopping():
                self._schedule.put_back(present[index:])
                return
            self._copy(path, target)

    def close(self) -> None:
        """Close the folder."""
        self._opener.close()

    def _scan_folder(self, top: bytes, now: float) -> set[bytes]:
        """Watch a folder and those below it, and schedule what differs from the target; returns all files."""
        self._opener.close()  # as in `mirror_due`
        present: set[bytes] = set()
        pending = [top]
        while pending:
            parent = pending.pop()
            try:
                folder = self._opener.directory(parent)
                if not self.watches.add(self.host, parent, folder):
                    self._cannot_watch(now)
                # Listed when the watch exists, so that no change is missed.
                with os.scandir(folder) as entries:
                    for entry in entries:
                        name = os.fsencode(entry.name)
                        path = parent + b"/" + name if parent else name
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(path)
                        elif entry.is_file(follow_symlinks=False):
                            present.add(path)
                            if stamp_of(entry.stat(follow_symlinks=False)) != self._copier.known.get(path):
                                self._schedule.add(path, now)
            except OSError as error:
                self._cannot_list(parent, error, now)
        return present

    def _cannot_list(self, path: bytes, error: OSError, now: float) -> None:
        if error.errno in _DENIED:
            self.note(
                f"{self.host}: {os.fsdecode(path) or 'the folder'} cannot be listed by your user while the job runs"
            )
        elif not path:
            self._scan_at = now + SCAN_SECONDS

    def _cannot_watch(self, now: float) -> None:
        why = "only Linux can do that"
        if sys.platform == "linux":
            why = "fs.inotify.max_user_watches or max_user_instances is too low"
        self.note(
            f"{self.host}: not all folders can be watched ({why}); they were scanned every {SCAN_SECONDS:g} s instead"
        )
        self._scan_at = now + SCAN_SECONDS

    def _delete_if_gone(self, path: bytes, target: Callable[[], OpenTarget]) -> bool:
        """Delete at the target what the host has deleted; False if there is a file that may have to be copied."""
        if path.endswith(_UPLOADING):
            return True
        above, _, name = path.rpartition(b"/")
        try:
            mode = os.stat(name, dir_fd=self._opener.directory(above), follow_symlinks=False).st_mode
        except OSError as error:
            if error.errno != errno.ENOENT:
                return True  # for example, a folder above is a link
        else:
            if not stat.S_ISDIR(mode):
                return not stat.S_ISREG(mode)
        self._closed.discard(path)
        if path in self._copier.known:
            with self._retried(path):
                shown = os.fsdecode(path)
                if self.state.owners.get(shown, self.host) == self.host:
                    target().delete(path)
                self.state.deleted(self.host, shown)
                del self._copier.known[path]
        return True

    def _copy(self, path: bytes, target: Callable[[], OpenTarget]) -> None:
        with self._retried(path):
            try:
                source = self._opener.file(path)
            except OSError as error:
                if error.errno == errno.ENOENT:
                    self._schedule.add(path, time.monotonic())
                elif error.errno in _DENIED:
                    self.note(f"{self.host}: {os.fsdecode(path)} cannot be read before the job has ended")
                elif error.errno not in _NOT_A_FILE:
                    raise
                return
            try:
                self._copy_open(path, source, target)
            finally:
                os.close(source)

    def _copy_open(self, path: bytes, source: int, target: Callable[[], OpenTarget]) -> None:
        began = time.monotonic()
        retry_after = self._copier.copy(path, source, closed=path in self._closed, target=target)
        now = time.monotonic()
        if retry_after is None:
            self._schedule.copied(path, began, now)
        elif retry_after < math.inf:
            self._schedule.postpone(path, now + retry_after)
            return
        self._closed.discard(path)

    @contextmanager
    def _retried(self, path: bytes) -> Iterator[None]:
        """Note an error of one file and retry later. The save at the end repeats the file or fails the job."""
        try:
            yield
        except OSError as error:
            self.note(f"{self.host}: files could not be mirrored immediately: {error.strerror or error}")
            self._schedule.postpone(path, time.monotonic() + _RETRY_SECONDS)
