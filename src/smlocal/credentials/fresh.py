"""Keeps credentials good: they are renewed well before they expire, and what goes wrong is told once."""

import time
from collections.abc import Callable
from dataclasses import field
from threading import Lock

from smlocal.credentials.issued import Issued
from smlocal.errors import SmlocalError
from smlocal.quick_dataclass import dataclass

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
    clock: Callable[[], float] = time.time
    _issued: Issued | None = None
    _renew_at: float = 0.0
    _lock: Lock = field(default_factory=Lock)
    _told: str = ""

    def first(self) -> None:
        """Get the first ones, or raise what is in the way."""
        self._take(self.find())

    def current(self) -> Issued:
        """Those of the moment, at once where they are good; raises `ExpiredError`."""
        issued = self._good()
        if issued is None:
            self.keep_up()
            issued = self._good()
        if issued is None:
            raise ExpiredError(self._told)
        return issued

    def keep_up(self) -> None:
        """Renew them if it is time to; who asks meanwhile is given the old ones."""
        with self._lock:
            if self.clock() >= self._renew_at:
                self._renew()

    def _good(self) -> Issued | None:
        issued = self._issued
        return issued if issued is not None and (issued.expires is None or issued.expires > self.clock()) else None

    def _renew(self) -> None:
        try:
            self._take(self.find())
            self._told = ""
        except SmlocalError as error:
            self._renew_at = self.clock() + _TRY_AGAIN_SECONDS
            why = "; ".join([error.sentence, *error.details])
            if why != self._told:
                self._told = why
                self.tell(why)

    def _take(self, issued: Issued) -> None:
        now = self.clock()
        self._issued = issued
        if issued.expires is None:
            self._renew_at = now + _LOOK_AGAIN_SECONDS
        else:
            left = issued.expires - now
            self._renew_at = now + max(
                _SHORTEST_SECONDS, left - AHEAD_SECONDS if left > 2 * AHEAD_SECONDS else left / 2
            )
