"""Things that come in any order are dealt with in theirs, by whoever has just brought one."""

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

_T = TypeVar("_T")


class ReorderBuffer(Generic[_T]):
    """For many threads; once all their calls have returned, nothing that could be dealt with is left."""

    def __init__(self, deal: Callable[[_T], int]) -> None:
        """`deal` gets what begins at 0 first, one thing at a time, and says where the next begins.

        If it raises, nobody deals with anything any more.
        """
        self._deal = deal
        self._at = 0
        self._waiting: dict[int, _T] = {}
        self._busy = False
        self._lock = Lock()

    def download_channel(self, at: int, thing: _T) -> None:
        """Deal with it, and with those that waited for it; or leave it to somebody who is at it or has yet to come."""
        with self._lock:
            self._waiting[at] = thing
            if self._busy:
                return
            self._busy = True
        while (ready := self._next()) is not None:
            self._at = self._deal(ready)

    def _next(self) -> _T | None:
        with self._lock:
            found = self._waiting.pop(self._at, None)
            self._busy = found is not None
            return found
