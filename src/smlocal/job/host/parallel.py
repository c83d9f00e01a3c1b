"""Do the same for many hosts at once."""

from collections.abc import Callable, Sequence
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")


def side_by_side(work: Callable[[Item], None], items: Sequence[Item], *, at_once: int) -> None:
    """Work on all items, so many at a time; the first error, in their order, is raised once all work is over.

    After an error no other item is begun.
    """
    waiting = iter(list(enumerate(items)))
    errors: dict[int, Exception] = {}

    def take() -> None:
        # An iterator over a list gives each item to one thread only.
        for index, item in waiting:
            if errors:
                return
            try:
                work(item)
            except Exception as error:  # noqa: BLE001 - raised below, in the thread that asked
                errors[index] = error

    threads = [Thread(target=take, name=f"side-by-side-{number}") for number in range(min(at_once, len(items)) - 1)]
    for thread in threads:
        thread.start()
    take()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[min(errors)]
