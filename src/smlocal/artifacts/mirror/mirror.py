"""The hosts' folders mirrored while their containers run: a thread that sleeps until something changes."""

import math
import os
import select
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import field
from threading import Event, Thread

from smlocal.artifacts import inotify
from smlocal.artifacts.mirror.host import HostMirror
from smlocal.artifacts.mirror.journal import Journal
from smlocal.artifacts.mirror.place import Place, Target
from smlocal.artifacts.mirror.watches import Watches
from smlocal.contract.checkpoints import Restored
from smlocal.quick_dataclass import dataclass

_GATHER_SECONDS = 0.05
"""After the first word of a change, for more of it: the kernel puts what is alike together."""
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
    """One host's folder here, and what it was given in it."""

    host: str
    directory: str
    given: Restored


@dataclass(kw_only=True, slots=True)
class Mirror:
    """All hosts' folders and the one target that they share."""

    name: str
    hosts: Sequence[MirroredHost]
    target: Target
    journal_path: str
    grows: bool = False
    """Mirror files that stay open, too."""
    notes: list[str] = field(default_factory=list)
    """What was not as it should be, each once."""
    _over: Event = field(default_factory=Event)
    _bell: int = -1
    _thread: Thread | None = None

    def begin(self) -> None:
        """Mirror from now on; what is different already is mirrored first."""
        self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._thread = Thread(target=self._run, name=f"{self.name}-mirror", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Come to an end: with the file that is being copied, but with no other; what is left is the save's."""
        if self._thread is None:
            return
        self._over.set()
        os.eventfd_write(self._bell, 1)
        self._thread.join()
        self._thread = None
        os.close(self._bell)

    def note(self, text: str) -> None:
        """Take down what was not as it should be."""
        if text not in self.notes and len(self.notes) < _MOST_NOTES:
            self.notes.append(text)

    def _run(self) -> None:
        try:
            with ExitStack() as stack:
                self._mirror(stack)
        except Exception as error:  # noqa: BLE001  a defect here must not end the job: the save at the end does it all
            self.note(f"files were not mirrored to the end of the job: {type(error).__name__}: {error}")

    def _mirror(self, stack: ExitStack) -> None:
        watches = Watches(_MASK | (inotify.MODIFY if self.grows else 0))
        stack.callback(watches.close)
        journal = Journal.read(self.journal_path)
        stack.callback(journal.close)
        mirrors = {each.host: self._host(each, journal, watches, stack) for each in self.hosts}
        poll = select.poll()
        poll.register(self._bell, select.POLLIN)
        if watches.descriptor is not None:
            poll.register(watches.descriptor, select.POLLIN)
        for mirror in mirrors.values():
            mirror.compare()
        while not self._over.is_set():
            wake_at = min((mirror.wake_at for mirror in mirrors.values()), default=math.inf)
            pause = None if wake_at == math.inf else max(0.0, wake_at - time.monotonic()) * 1000
            if any(descriptor == watches.descriptor for descriptor, _ in poll.poll(pause)):
                self._over.wait(_GATHER_SECONDS)
                _tell(watches, mirrors)
            self._work(mirrors)

    def _host(self, each: MirroredHost, journal: Journal, watches: Watches, stack: ExitStack) -> HostMirror:
        mirror = HostMirror(
            host=each.host,
            root=os.fsencode(each.directory),
            given=each.given,
            journal=journal,
            watches=watches,
            note=self.note,
            grows=self.grows,
        )
        stack.callback(mirror.close)
        return mirror

    def _work(self, mirrors: dict[str, HostMirror]) -> None:
        with ExitStack() as opened:
            places: list[Place] = []

            def place() -> Place:
                if not places:
                    places.append(opened.enter_context(self.target.open()))
                return places[0]

            for mirror in mirrors.values():
                if mirror.wake_at <= time.monotonic():
                    mirror.work(place, self._over.is_set)


def _tell(watches: Watches, mirrors: dict[str, HostMirror]) -> None:
    """Hand on what has happened; after too much of it everything is compared."""
    lost = False
    for host, folder, event in watches.read():
        if host is None:
            lost = True
        elif not lost:
            mirrors[host].hear(folder, event)
    if lost:
        for mirror in mirrors.values():
            mirror.compare()
