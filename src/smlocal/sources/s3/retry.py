"""How long one call keeps trying: attempts further and further apart, until no byte has come for too long."""

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from smlocal.sources.s3.interface import S3Error

TICK = 0.5
"""Seconds after which whoever waits looks whether the wait was cancelled."""

_FIRST = 0.1
_LONGEST = 4.0

_T = TypeVar("_T")


class FetchCancelledError(Exception):
    """Nobody wants these bytes any more."""


def never() -> bool:
    """For calls that nobody cancels."""
    return False


class Retry:
    """The attempts of one call; the time limit starts anew with every byte that comes."""

    def __init__(self, seconds: float, cancelled: Callable[[], bool]) -> None:
        """The clock runs."""
        self._seconds = seconds
        self._cancelled = cancelled
        self.begin()

    def begin(self) -> None:
        """The caller asks for more, after it got all that it asked for before."""
        self._since = time.monotonic()
        self._pause = _FIRST

    def check(self) -> None:
        """Raise `FetchCancelledError` if the call was cancelled."""
        if self._cancelled():
            raise FetchCancelledError

    def pause(self, error: S3Error) -> None:
        """Wait before the next attempt, each time about twice as long; raises `error` when the time is over."""
        # With jitter, so that what failed together does not come back together.
        until = time.monotonic() + self._pause * random.uniform(0.5, 1)  # noqa: S311  not a secret
        self._pause = min(2 * self._pause, _LONGEST)
        if until - self._since > self._seconds:
            raise error
        while (left := until - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, TICK))


def until_cancelled(call: Callable[[], _T], cancelled: Callable[[], bool]) -> _T:
    """The result of `call`; `FetchCancelledError` within a second of `cancelled`, even if the server is silent.

    The call runs in a daemon thread, which may be left behind: a blocked socket cannot be interrupted.
    """
    if cancelled is never:
        return call()
    from concurrent.futures import Future

    result: Future[_T] = Future()

    def run() -> None:
        try:
            result.set_result(call())
        except BaseException as error:  # noqa: BLE001  raised in the thread that waits
            result.set_exception(error)

    threading.Thread(target=run, daemon=True, name="s3-call").start()
    while not result.done():
        if cancelled():
            raise FetchCancelledError
        try:
            return result.result(timeout=TICK)
        except TimeoutError:
            continue  # nothing yet, or the call's own error, which is raised below
    return result.result()
