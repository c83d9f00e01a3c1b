"""Which folders of the hosts are watched, and where each of them lies by now."""

import errno
from collections.abc import Iterator

from smlocal.artifacts.inotify import IGNORED, OVERFLOW, Event, Inotify

_NO_MORE = {errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOSYS, errno.ENOMEM, errno.EACCES}


class Watches:
    """The watched folders of all hosts of a job, under the numbers that the kernel gives them."""

    def __init__(self, mask: int) -> None:
        """Nothing is watched yet; `mask` says what is to be told of a folder."""
        self._mask = mask
        self._places: dict[int, tuple[str, bytes]] = {}
        self._inotify: Inotify | None = None
        try:
            self._inotify = Inotify()
        except OSError as error:
            if error.errno not in _NO_MORE:
                raise

    @property
    def descriptor(self) -> int | None:
        """Can be read when there is something to tell; None where nothing can be watched."""
        return None if self._inotify is None else self._inotify.descriptor

    def add(self, host: str, path: bytes, folder: int) -> bool:
        """Watch an open folder; False when this user may watch no more of them."""
        if self._inotify is None:
            return False
        try:
            number = self._inotify.add(folder, self._mask)
        except OSError as error:
            if error.errno not in _NO_MORE:
                raise
            return False
        self._places[number] = (host, path)  # one that has moved is known by its new place from now on
        return True

    def drop(self, host: str, top: bytes) -> None:
        """Watch no folder any more that is known as lying at or below `top`; all of the host's when that is empty."""
        below = top + b"/"
        for number, (each, path) in list(self._places.items()):
            if each == host and (not top or path == top or path.startswith(below)):
                del self._places[number]
                if self._inotify is not None:
                    self._inotify.remove(number)

    def read(self) -> Iterator[tuple[str | None, bytes, Event]]:
        """What has happened: in a folder of which host; None when so much has that not all of it can be told."""
        if self._inotify is None:
            return
        for event in self._inotify.read():
            if event.mask & OVERFLOW:
                yield None, b"", event
            elif event.mask & IGNORED:
                self._places.pop(event.watch, None)
            elif event.watch in self._places:
                host, path = self._places[event.watch]
                yield host, path, event

    def close(self) -> None:
        """Watch nothing any more."""
        self._places.clear()
        if self._inotify is not None:
            self._inotify.close()
