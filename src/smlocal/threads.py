"""Threads whose unexpected end somebody hears of."""

from collections.abc import Callable
from threading import Thread


def watched_thread(work: Callable[[], None], *, name: str, died: Callable[[str, BaseException], None]) -> Thread:
    """A thread that is not started yet; `died` is told its name and the exception when one ends it."""

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - whatever it is, nobody else would hear of it
            died(name, error)

    return Thread(target=run, name=name, daemon=True)
