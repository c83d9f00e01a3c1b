"""Calls a function in a thread, and forgets at once what it was called with."""

from collections.abc import Callable
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

Result = TypeVar("Result")


async def in_thread(function: Callable[[], Result]) -> Result:
    """As `run_in_threadpool`. There an exception and the frames that it has gone through refer to each other.

    So what a client has sent, which may be megabytes, would stay until the garbage collector looks.
    """
    outcome = await run_in_threadpool(_outcome, function)
    try:
        if isinstance(outcome, _Failure):
            raise outcome.error
        return outcome
    finally:
        del outcome


class _Failure:
    def __init__(self, error: Exception) -> None:
        self.error = error


def _outcome(function: Callable[[], Result]) -> Result | _Failure:
    try:
        return function()
    except Exception as error:  # noqa: BLE001 - it is raised again
        return _Failure(error)
