"""Threads: the same for many items, several at once, and threads whose exceptions are reported."""

from collections.abc import Callable, Sequence
from threading import Thread
from typing import TypeVar

# Threads, and not `concurrent.futures`: that imports `logging`, 5 ms of processor time in every job that does nothing.

Item = TypeVar("Item")


def run_parallel(work: Callable[[Item], None], items: Sequence[Item], *, at_once: int) -> None:
    """Call `work` for all items. After an error no other item is begun; the first one's error is raised at the end."""
    waiting = iter(list(enumerate(items)))
    errors: dict[int, Exception] = {}

    def take() -> None:
        # An iterator over a list gives each item to one thread only.
        for index, item in waiting:
            if errors:
                return
            try:
                work(item)
            except Exception as error:  # noqa: BLE001 - raised below, in the calling thread
                errors[index] = error

    threads = [Thread(target=take, name=f"parallel-{number}") for number in range(min(at_once, len(items)) - 1)]
    for thread in threads:
        thread.start()
    take()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[min(errors)]


def run_each(
    work: Callable[[Item], None], items: Sequence[Item], *, meanwhile: Callable[[], None] = lambda: None
) -> dict[int, Exception]:
    """Call `work` for all items, each in a thread of its own, and `meanwhile` in this one.

    Returns the errors of `work` by the number of the item, in the order of time.
    """
    errors: dict[int, Exception] = {}

    def run(index: int, item: Item) -> None:
        try:
            work(item)
        except Exception as error:  # noqa: BLE001 - returned to the thread that called
            errors[index] = error

    threads = [Thread(target=run, args=pair, name=f"each-{pair[0]}") for pair in enumerate(items)]
    for thread in threads:
        thread.start()
    meanwhile()
    for thread in threads:
        thread.join()
    return errors


def watched_thread(work: Callable[[], None], *, name: str, died: Callable[[str, BaseException], None]) -> Thread:
    """A thread, not started yet. If an exception ends it, `died` is called with the thread's name and the exception."""

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - otherwise it would go unnoticed
            died(name, error)

    return Thread(target=run, name=name, daemon=True)
