"""How long one call keeps trying: attempts further and further apart, until no byte has come for too long."""

import random
import time
from collections.abc import Callable

from smlocal.sources.s3.connection import TICK, BrokenConnectionError
from smlocal.sources.s3.interface import S3Error

_FIRST = 0.1
_LONGEST = 4.0
_SILENCE = 20.0


class FetchCancelledError(Exception):
    """Nobody wants these bytes any more."""


class Patience:
    """Of one call: begins anew with every byte that comes."""

    def __init__(self, seconds: float, cancelled: Callable[[], bool], *, silence: float = _SILENCE) -> None:
        """The clock runs; `silence` is how long an answer may be waited for."""
        self._seconds, self._silence = seconds, silence
        self._longest = max(seconds, silence) if silence > _SILENCE else seconds
        self._cancelled = cancelled
        self._since = self._asked = time.monotonic()
        self._pause = _FIRST

    def begin(self) -> None:
        """Somebody asks for more, having got all that he asked for before."""
        self._since = self._asked = time.monotonic()
        self._pause = _FIRST

    def asking(self) -> None:
        """A request is about to be sent."""
        if self._cancelled():
            raise FetchCancelledError
        self._asked = time.monotonic()

    def moved(self) -> None:
        """Bytes go out: time in which they do so is not time that is waited."""
        if self._cancelled():
            raise FetchCancelledError
        now = time.monotonic()
        self._since += now - self._asked
        self._asked = now

    def waiting(self) -> None:
        """Called while a connection is silent: gives it up when that has been so for too long."""
        if self._cancelled():
            raise FetchCancelledError
        now = time.monotonic()
        if now - self._asked > self._silence or now - self._since > self._longest:
            raise BrokenConnectionError("nothing came any more")

    def pause(self, error: S3Error) -> None:
        """Wait before the next attempt, each time about twice as long; raises `error` when it has been enough."""
        # With jitter, so that what failed together does not come back together.
        until = time.monotonic() + self._pause * random.uniform(0.5, 1)  # noqa: S311  not a secret
        self._pause = min(2 * self._pause, _LONGEST)
        if until - self._since > self._seconds:
            raise error
        while (left := until - time.monotonic()) > 0:
            if self._cancelled():
                raise FetchCancelledError
            time.sleep(min(left, TICK))
