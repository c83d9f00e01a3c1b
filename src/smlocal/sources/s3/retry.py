"""Retries with growing pauses, until too much time has passed without a byte; and calls that can be cancelled."""

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from smlocal.sources.s3.interface import S3Error

TICK = 0.5
"""Seconds between two checks for cancellation while waiting."""

_FIRST = 0.1
_LONGEST = 4.0

_T = TypeVar("_T")


class FetchCancelledError(Exception):
    """The caller has cancelled the transfer."""


def never() -> bool:
    """The `cancelled` of a call that cannot be cancelled."""
    return False


class Retry:
    """The time limit and pauses of one call; the limit starts again with every byte received."""

    def __init__(self, seconds: float, cancelled: Callable[[], bool]) -> None:
        """Start the clock."""
        self._seconds = seconds
        self._cancelled = cancelled
        self.restart()

    def restart(self) -> None:
        """Start the clock again: bytes have been received."""
        self._since = time.monotonic()
        self._pause = _FIRST

    def check(self) -> None:
        """Raise `FetchCancelledError` if the call is cancelled."""
        if self._cancelled():
            raise FetchCancelledError

    def pause(self, error: S3Error) -> None:
        """Wait before the next attempt, each time about twice as long; raises `error` if the time is up."""
        # Jitter, so that threads that failed at the same time do not try again at the same time.
        until = time.monotonic() + self._pause * random.uniform(0.5, 1)  # noqa: S311  not a secret
        self._pause = min(2 * self._pause, _LONGEST)
        if until - self._since > self._seconds:
            raise error
        while (left := until - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, TICK))


def until_cancelled(call: Callable[[], _T], cancelled: Callable[[], bool]) -> _T:
    """The result of `call`; `FetchCancelledError` within a second of `cancelled`, even if the server is silent.

    The call runs in a daemon thread, which may be abandoned: a blocked socket cannot be interrupted.
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
            continue  # not done, or the call raised a TimeoutError, which is raised below
    return result.result()
