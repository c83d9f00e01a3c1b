"""Renews a job's keys well before they expire. A failure is reported once."""

import time
from collections.abc import Callable
from dataclasses import field
from threading import Lock

from smlocal.errors import SmlocalError
from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.aws_session import Credentials

AHEAD_SECONDS = 1200.0
"""Clients ask for new keys 15 minutes before the old ones expire."""
_UNKNOWN_END_SECONDS = 300.0
"""When to fetch keys again whose end is not known: the user may have others by then."""
_RETRY_SECONDS = 10.0
_SHORTEST_SECONDS = 0.5


class ExpiredError(Exception):
    """There are no valid keys."""


@dataclass(kw_only=True, slots=True)
class RenewedKeys:
    """One job's keys; safe to use from many threads."""

    fetch: Callable[[], Credentials]
    """Gets new keys; raises `SmlocalError`."""
    warn: Callable[[str], None] = lambda _: None
    """Gets the reason why they could not be renewed."""
    clock: Callable[[], float] = time.time
    _keys: Credentials | None = None
    _renew_at: float = 0.0
    _lock: Lock = field(default_factory=Lock)
    _reported: str = ""

    def fetch_first(self) -> None:
        """Get the first keys; raises the error if there are none."""
        self._take(self.fetch())

    def current(self) -> Credentials:
        """The present keys, without waiting if they are valid; raises `ExpiredError`."""
        keys = self._valid()
        if keys is None:
            self.renew_if_due()
            keys = self._valid()
        if keys is None:
            raise ExpiredError(self._reported)
        return keys

    def renew_if_due(self) -> None:
        """Renew the keys if it is time; other threads get the old ones meanwhile."""
        with self._lock:
            if self.clock() >= self._renew_at:
                self._renew()

    def _valid(self) -> Credentials | None:
        keys = self._keys
        return keys if keys is not None and (keys.expires is None or keys.expires > self.clock()) else None

    def _renew(self) -> None:
        try:
            self._take(self.fetch())
            self._reported = ""
        except SmlocalError as error:
            self._renew_at = self.clock() + _RETRY_SECONDS
            reason = error.with_details
            if reason != self._reported:
                self._reported = reason
                self.warn(reason)

    def _take(self, keys: Credentials) -> None:
        self._keys = keys
        now = self.clock()
        if keys.expires is None:
            self._renew_at = now + _UNKNOWN_END_SECONDS
        else:
            left = keys.expires - now
            wait = left - AHEAD_SECONDS if left > 2 * AHEAD_SECONDS else left / 2
            self._renew_at = now + max(_SHORTEST_SECONDS, wait)
