"""Mirror the folders of the hosts while their containers run: one thread, which sleeps until something changes."""

import math
import os
import select
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import field
from threading import Event, Thread

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.artifacts.mirror import inotify
from smlocal.data.artifacts.mirror.host_mirror import HostMirror
from smlocal.data.artifacts.mirror.inotify import Watches
from smlocal.data.artifacts.mirror.target import MirrorState, OpenTarget, Target
from smlocal.terms.checkpoints import Restored

_GATHER_SECONDS = 0.05
"""From the first event to reading it, so that more events come together and the kernel merges equal ones."""
_MOST_NOTES = 20
_MASK = (
    inotify.CLOSE_WRITE
    | inotify.MOVED_FROM
    | inotify.MOVED_TO
    | inotify.CREATE
    | inotify.DELETE
    | inotify.DELETE_SELF
    | inotify.MOVE_SELF
)


@dataclass(frozen=True, kw_only=True, slots=True)
class MirroredHost:
    """One host's local folder, and the files that were restored to it."""

    host: str
    directory: str
    restored: Restored


@dataclass(kw_only=True, slots=True)
class Mirror:
    """The folders of all hosts and the target that they share."""

    name: str
    hosts: Sequence[MirroredHost]
    target: Target
    state_path: str
    grows: bool = False
    """True for logs: the current content of files that stay open is mirrored too."""
    notes: list[str] = field(default_factory=list)
    """Problems, each one once."""
    _stopping: Event = field(default_factory=Event)
    _wakeup: tuple[int, int] = (-1, -1)
    _thread: Thread | None = None

    def start(self) -> None:
        """Start the thread. It first mirrors what differs already."""
        self._wakeup = os.pipe()
        self._thread = Thread(target=self._run, name=f"{self.name}-mirror", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current file. The save at the end of the job does the rest."""
        if self._thread is None:
            return
        self._stopping.set()
        os.write(self._wakeup[1], b"\0")
        self._thread.join()
        self._thread = None
        for descriptor in self._wakeup:
            os.close(descriptor)

    def note(self, text: str) -> None:
        """Record a problem."""
        if text not in self.notes and len(self.notes) < _MOST_NOTES:
            self.notes.append(text)

    def _run(self) -> None:
        try:
            with ExitStack() as stack:
                self._mirror(stack)
        except Exception as error:  # noqa: BLE001  must not end the job: the save at the end does everything
            self.note(f"files were not mirrored to the end of the job: {type(error).__name__}: {error}")

    def _mirror(self, stack: ExitStack) -> None:
        watches = Watches(_MASK | (inotify.MODIFY if self.grows else 0))
        stack.callback(watches.close)
        state = MirrorState.read(self.state_path)
        stack.callback(state.close)
        mirrors: dict[str, HostMirror] = {}
        for each in self.hosts:
            mirrors[each.host] = HostMirror(
                host=each.host,
                root=os.fsencode(each.directory),
                restored=each.restored,
                state=state,
                watches=watches,
                note=self.note,
                grows=self.grows,
            )
            stack.callback(mirrors[each.host].close)
        poll = select.poll()
        poll.register(self._wakeup[0], select.POLLIN)
        if watches.descriptor is not None:
            poll.register(watches.descriptor, select.POLLIN)
        for mirror in mirrors.values():
            mirror.scan()
        while not self._stopping.is_set():
            next_due = min((mirror.next_due for mirror in mirrors.values()), default=math.inf)
            timeout = None if next_due == math.inf else max(0.0, next_due - time.monotonic()) * 1000
            if any(descriptor == watches.descriptor for descriptor, _ in poll.poll(timeout)):
                self._stopping.wait(_GATHER_SECONDS)
                _handle_events(watches, mirrors)
            self._mirror_due(mirrors)

    def _mirror_due(self, mirrors: dict[str, HostMirror]) -> None:
        with ExitStack() as stack:
            opened: list[OpenTarget] = []

            def target() -> OpenTarget:
                """Open the target when the first file needs it."""
                if not opened:
                    opened.append(stack.enter_context(self.target.open()))
                return opened[0]

            for mirror in mirrors.values():
                if mirror.next_due <= time.monotonic():
                    mirror.mirror_due(target, self._stopping.is_set)


def _handle_events(watches: Watches, mirrors: dict[str, HostMirror]) -> None:
    """Pass the events on. If some were lost, scan all folders."""
    lost = False
    for host, folder, event in watches.read():
        if host is None:
            lost = True
        elif not lost:
            mirrors[host].handle(folder, event)
    if lost:
        for mirror in mirrors.values():
            mirror.scan()
