"""Bodies of requests: how many bytes are held together, and memory that is given back as soon as it is not needed."""

from collections import deque
from collections.abc import Callable
from mmap import mmap
from typing import Final

SMALL: Final = 64 << 10
"""Bytes of a body that has no part in the limit."""


class Share:
    """A part of the bytes that may be held together."""

    __slots__ = ("_among", "go_on", "granted", "size")

    def __init__(self, among: "HeldBytes", size: int, go_on: Callable[[], None]) -> None:
        """`go_on` is called when it is granted, unless that is at once."""
        self._among, self.size, self.go_on = among, size, go_on
        self.granted = False

    def give_back(self) -> None:
        """It is not needed any more, or not waited for."""
        self._among.give_back(self)

    def shrink(self, size: int) -> None:
        """So much is needed of it."""
        self._among.shrink(self, size)


class HeldBytes:
    """The bytes that are held together. Who wants more than are free waits, in the order of arrival."""

    def __init__(self, most: int) -> None:
        """A single one may have more than `most`, if there is no other."""
        self._most = most
        self.held = 0
        self._waiting: deque[Share] = deque()

    def take(self, size: int, go_on: Callable[[], None]) -> Share:
        """Granted at once, or later."""
        share = Share(self, size, go_on)
        self._waiting.append(share)
        self._grant(at_once=share)
        return share

    def give_back(self, share: Share) -> None:
        """Others may have its bytes."""
        if share.granted:
            share.granted = False
            self.held -= share.size
        elif share in self._waiting:
            self._waiting.remove(share)
        self._grant()

    def shrink(self, share: Share, size: int) -> None:
        """Others may have the rest of its bytes."""
        if share.granted and size < share.size:
            self.held -= share.size - size
            share.size = size
            self._grant()

    def take_now(self, size: int) -> Share | None:
        """Granted at once; None if others have the bytes, or wait for them."""
        if self._waiting or self.held + size > self._most:
            return None
        return self.take(size, lambda: None)

    def _grant(self, at_once: Share | None = None) -> None:
        while self._waiting and (not self.held or self.held + self._waiting[0].size <= self._most):
            share = self._waiting.popleft()
            share.granted = True
            self.held += share.size
            if share is not at_once:
                share.go_on()


class BodyContent:
    """The bytes of one body, as they come.

    A large one has memory of its own, which is the system's again when it is dropped. The allocator would keep it.
    """

    __slots__ = ("_map", "_pieces", "size")

    def __init__(self) -> None:
        self.size = 0
        self._pieces: list[bytes] = []
        self._map: mmap | None = None

    def reserve(self, most: int) -> None:
        """It may have up to so many bytes. Memory that is not used costs nothing."""
        made = mmap(-1, max(1, most))
        for piece in self._pieces:
            made.write(piece)
        self._map, self._pieces = made, []

    @property
    def reserved(self) -> bool:
        """True if it has memory of its own."""
        return self._map is not None

    def add(self, piece: bytes) -> None:
        """The next bytes."""
        self.size += len(piece)
        if self._map is None:
            self._pieces.append(piece)
        else:
            self._map.write(piece)

    def whole(self) -> bytes | memoryview:
        """All of it."""
        if self._map is not None:
            return memoryview(self._map)[: self.size]
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
