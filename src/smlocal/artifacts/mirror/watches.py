"""The watched folders of all hosts of a job, and their current paths."""

import errno
from collections.abc import Iterator

from smlocal.artifacts.mirror.inotify import IGNORED, OVERFLOW, Event, Inotify

_NOT_AVAILABLE = {errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOSYS, errno.ENOMEM, errno.EACCES}


class Watches:
    """Watched folders by the numbers that the kernel gives them."""

    def __init__(self, mask: int) -> None:
        """`mask` selects the events."""
        self._mask = mask
        self._folders: dict[int, tuple[str, bytes]] = {}
        self._inotify: Inotify | None = None
        try:
            self._inotify = Inotify()
        except OSError as error:
            if error.errno not in _NOT_AVAILABLE:
                raise

    @property
    def descriptor(self) -> int | None:
        """Readable when there are events; None if nothing can be watched."""
        return None if self._inotify is None else self._inotify.descriptor

    def add(self, host: str, path: bytes, folder: int) -> bool:
        """Watch an open folder; False if this user may not watch more folders."""
        if self._inotify is None:
            return False
        try:
            number = self._inotify.add(folder, self._mask)
        except OSError as error:
            if error.errno not in _NOT_AVAILABLE:
                raise
            return False
        self._folders[number] = (host, path)  # a folder that was moved has the same number and gets its new path
        return True

    def remove(self, host: str, top: bytes) -> None:
        """Stop watching the folder `top` and those below it; all folders of the host if `top` is empty."""
        below = top + b"/"
        for number, (each, path) in list(self._folders.items()):
            if each == host and (not top or path == top or path.startswith(below)):
                del self._folders[number]
                if self._inotify is not None:
                    self._inotify.remove(number)

    def read(self) -> Iterator[tuple[str | None, bytes, Event]]:
        """New events with their host and folder; the host is None if events were lost."""
        if self._inotify is None:
            return
        for event in self._inotify.read():
            if event.mask & OVERFLOW:
                yield None, b"", event
            elif event.mask & IGNORED:
                self._folders.pop(event.watch, None)
            elif event.watch in self._folders:
                host, path = self._folders[event.watch]
                yield host, path, event

    def close(self) -> None:
        """Stop watching."""
        self._folders.clear()
        if self._inotify is not None:
            self._inotify.close()
