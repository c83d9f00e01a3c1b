from functools import partial
from threading import Barrier, current_thread

import pytest

from smlocal.base.threads import Workers, watched_thread


def test_whatever_ends_a_thread_is_told() -> None:
    told: list[tuple[str, BaseException]] = []
    for error in (KeyError("Id"), SystemExit(3)):

        def work(error: BaseException = error) -> None:
            raise error

        thread = watched_thread(work, name="worker", died=lambda name, error: told.append((name, error)))
        assert thread.daemon
        thread.start()
        thread.join(60)
        assert told.pop() == ("worker", error)


def test_an_end_that_is_expected_is_not_told() -> None:
    done: list[int] = []
    thread = watched_thread(lambda: done.append(1), name="worker", died=lambda *_: done.append(2))
    thread.start()
    thread.join(60)
    assert done == [1]


def test_workers_are_started_when_all_others_are_busy() -> None:
    names: list[str] = []
    together = Barrier(3)

    def work() -> None:
        names.append(current_thread().name)
        together.wait(60)

    with Workers(2, name="asks") as workers:
        for _ in range(2):
            workers.give(work)
        together.wait(60)
        for _ in range(2):
            workers.give(work)
        together.wait(60)
    assert {*names} == {"asks-0", "asks-1"}
    assert len(names) == 4


def test_everything_is_done_before_the_first_error_is_raised() -> None:
    done: list[int] = []

    def fail(number: int) -> None:
        done.append(number)
        raise KeyError(number)

    def give_three() -> None:
        with Workers(1, name="asks") as workers:
            for number in range(3):
                workers.give(partial(fail, number))

    with pytest.raises(KeyError, match="0"):
        give_three()
    assert done == [0, 1, 2]


def test_no_work_needs_no_thread() -> None:
    with Workers(1, name="asks") as workers:
        pass
    assert not workers._threads
