"""Handles items in the order of their positions, though threads finish them in any order."""

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

_T = TypeVar("_T")


class ReorderBuffer(Generic[_T]):
    """Safe to use from many threads. When all calls of `add` have returned, every item that can be handled has been."""

    def __init__(self, handle: Callable[[_T], int]) -> None:
        """`handle` is called for one item at a time, first for the one at position 0; it returns the next position.

        If it raises, nothing is handled any more.
        """
        self._handle = handle
        self._next_position = 0
        self._waiting: dict[int, _T] = {}
        self._busy = False
        self._lock = Lock()

    def add(self, position: int, item: _T) -> None:
        """Handle the item and those that waited for it; or leave it to a thread that is handling, or will be."""
        with self._lock:
            self._waiting[position] = item
            if self._busy:
                return
            self._busy = True
        while (ready := self._next()) is not None:
            self._next_position = self._handle(ready)

    def _next(self) -> _T | None:
        with self._lock:
            found = self._waiting.pop(self._next_position, None)
            self._busy = found is not None
            return found
