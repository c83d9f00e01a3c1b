"""The downloads of one feed: memory shared out among its epochs, and an end to all of them at once."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from smlocal.channels.pipe.stop import StoppedError
from smlocal.sources.s3.interface import ObjectStore, S3Object

if TYPE_CHECKING:
    from smlocal.sources.s3.object_stream import ObjectStream

_SHARE = 7, 8
_LEAST = 2 << 20


class Streams:
    """Streams of objects out of S3, each read ahead of whoever it is for."""

    def __init__(self, store: Callable[[], ObjectStore], budget: int) -> None:
        """`store` is called when it is first needed; at most `budget` bytes are read ahead, all streams together."""
        self._make_store = store
        self._store: ObjectStore | None = None
        self._left = budget
        self._open: set[ObjectStream] = set()
        self._stopped = False
        self._lock = Lock()

    @property
    def store(self) -> ObjectStore:
        """Made once."""
        with self._lock:
            if self._store is None:
                self._store = self._make_store()
            return self._store

    @contextmanager
    def open(self, objects: Iterable[S3Object]) -> Iterator["ObjectStream"]:
        """Read ahead of whoever uses it, from its first use on; what is left at the end is thrown away.

        An epoch takes most of what memory there is and leaves some: its reader may have gone on to the next epoch
        without closing it.
        """
        from smlocal.sources.s3.object_stream import ObjectStream, StreamClosedError

        store = self.store
        with self._lock:
            if self._stopped:
                raise StoppedError
            budget = max(_LEAST, self._left * _SHARE[0] // _SHARE[1])
            self._left -= budget
            stream = ObjectStream(store, objects, budget=budget)
            self._open.add(stream)
        try:
            yield stream
        except StreamClosedError as error:
            raise StoppedError from error
        finally:
            stream.close()
            with self._lock:
                self._open.discard(stream)
                self._left += budget

    def stop(self) -> None:
        """Close them all, and let none be opened any more."""
        with self._lock:
            self._stopped = True
            streams = list(self._open)
        for stream in streams:
            stream.close()
