"""Threads: the same for many items, several at once, and threads whose exceptions are reported."""

from collections import deque
from collections.abc import Callable, Sequence
from threading import Condition, Thread
from typing import Self, TypeVar

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


class Workers:
    """Threads that do what they are given, in its order. Each is started when all others are busy.

        with Workers(4, name="asks") as workers:
            workers.give(work)

    All was done when the block ends. The first exception of any work is raised then; the others go on.
    """

    def __init__(self, most: int, *, name: str) -> None:
        """`most`: so many threads."""
        self._most, self._name = most, name
        self._threads: list[Thread] = []
        self._given: deque[Callable[[], None]] = deque()
        self._idle = 0
        self._over = False
        self._error: BaseException | None = None
        self._changed = Condition()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def give(self, work: Callable[[], None]) -> None:
        """Have it done, as soon as a thread is free."""
        with self._changed:
            if len(self._given) >= self._idle and len(self._threads) < self._most:
                thread = Thread(target=self._work, name=f"{self._name}-{len(self._threads)}")
                thread.start()
                self._threads.append(thread)
            self._given.append(work)
            self._changed.notify()

    def _work(self) -> None:
        while (work := self._next()) is not None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - raised in the thread that has given the work
                self._error = self._error or error
            del work  # before it waits for more: it may hold much

    def _next(self) -> Callable[[], None] | None:
        """None: there is nothing more to do."""
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._given or self._over)
            self._idle -= 1
            return self._given.popleft() if self._given else None
