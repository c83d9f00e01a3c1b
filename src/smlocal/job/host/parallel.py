"""Do the same for many items, several at once."""

from collections.abc import Callable, Sequence
from threading import Thread
from typing import TypeVar

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
