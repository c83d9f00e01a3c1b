"""The connections that are served at the same time. None of a container's can keep those of others away."""

import socket
from collections import Counter
from contextlib import suppress
from dataclasses import field
from threading import Lock

from smlocal.quick_dataclass import dataclass

MOST = 64


@dataclass(kw_only=True, slots=True)
class Place:
    """One connection."""

    connection: socket.socket
    address: str
    """Of the client; empty if it is not known any more."""
    waits: bool = True
    """True until its request has come."""


@dataclass(kw_only=True, slots=True)
class Places:
    """If all places are taken, the address with the most connections that only wait loses the oldest of them."""

    most: int = MOST
    _taken: list[Place] = field(default_factory=list)
    """In the order in which they came."""
    _lock: Lock = field(default_factory=Lock)

    def take(self, connection: socket.socket) -> Place | None:
        """A place for a new connection; None, and the connection is closed, if all others are being answered."""
        place = Place(connection=connection, address=_address_of(connection))
        with self._lock:
            if len(self._taken) >= self.most and not self._free_one():
                connection.close()
                return None
            self._taken.append(place)
        return place

    def answering(self, place: Place) -> None:
        """The request has come: the connection is not ended any more."""
        with self._lock:
            place.waits = False

    def leave(self, place: Place) -> None:
        """The connection has ended."""
        with self._lock, suppress(ValueError):  # it may have lost its place
            self._taken.remove(place)

    def _free_one(self) -> bool:
        waiting = [place for place in self._taken if place.waits]
        if not waiting:
            return False
        of_address = Counter(place.address for place in waiting)
        most = max(of_address.values())
        oldest = next(place for place in waiting if of_address[place.address] == most)
        self._taken.remove(oldest)
        with suppress(OSError):
            oldest.connection.shutdown(socket.SHUT_RDWR)  # its thread notices that and closes it
        return True


def _address_of(connection: socket.socket) -> str:
    try:
        return str(connection.getpeername()[0])
    except (OSError, IndexError):
        return ""
