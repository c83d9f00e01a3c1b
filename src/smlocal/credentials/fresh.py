"""Keeps credentials good: they are renewed well before they expire, and what goes wrong is told once."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Lock

from smlocal.credentials.issued import Issued
from smlocal.errors import SmlocalError

AHEAD_SECONDS = 1200.0
"""Clients come for new ones 15 minutes before the end of the old."""
_LOOK_AGAIN_SECONDS = 300.0
"""For keys of which nobody knows how long they are good: they may be others by now."""
_TRY_AGAIN_SECONDS = 10.0
_SHORTEST_SECONDS = 0.5


class ExpiredError(Exception):
    """There are none that are still good."""


@dataclass(kw_only=True, slots=True)
class Fresh:
    """One job's credentials; safe to use from many threads."""

    find: Callable[[], Issued]
    """Gets new ones; raises `SmlocalError`."""
    tell: Callable[[str], None] = lambda _: None
    """Hears why they could not be renewed."""
    _issued: Issued | None = None
    _renew_at: float = 0.0
    _lock: Lock = field(default_factory=Lock)
    _told: str = ""

    def first(self) -> None:
        """Get the first ones, or raise what is in the way."""
        self._take(self.find())

    def current(self) -> Issued:
        """Those of the moment; raises `ExpiredError`."""
        with self._lock:
            if time.time() >= self._renew_at:
                self._renew()
            if self._issued is None or (self._issued.expires is not None and self._issued.expires <= time.time()):
                raise ExpiredError(self._told)
            return self._issued

    def keep(self, stopped: Event) -> None:
        """Renew them in time, so that nobody who asks has to wait; runs until it is stopped."""
        while not stopped.wait(max(self._renew_at - time.time(), _SHORTEST_SECONDS)):
            with suppress(ExpiredError):
                self.current()

    def _renew(self) -> None:
        try:
            self._take(self.find())
            self._told = ""
        except SmlocalError as error:
            self._renew_at = time.time() + _TRY_AGAIN_SECONDS
            why = "; ".join([error.sentence, *error.details])
            if why != self._told:
                self._told = why
                self.tell(why)

    def _take(self, issued: Issued) -> None:
        now = time.time()
        self._issued = issued
        if issued.expires is None:
            self._renew_at = now + _LOOK_AGAIN_SECONDS
        else:
            left = issued.expires - now
            self._renew_at = now + max(
                _SHORTEST_SECONDS, left - AHEAD_SECONDS if left > 2 * AHEAD_SECONDS else left / 2
            )
