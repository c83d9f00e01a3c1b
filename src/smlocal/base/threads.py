"""Threads whose exceptions are reported."""

from collections.abc import Callable
from threading import Thread


def watched_thread(work: Callable[[], None], *, name: str, died: Callable[[str, BaseException], None]) -> Thread:
    """A thread, not started yet. If an exception ends it, `died` is called with the thread's name and the exception."""

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - otherwise it would go unnoticed
            died(name, error)

    return Thread(target=run, name=name, daemon=True)
