"""Work on many hosts at once."""

from threading import Barrier, Event, Lock

import pytest

from smlocal.job.side_by_side import side_by_side


def test_every_item_is_worked_on_once() -> None:
    lock, done = Lock(), []

    def work(item: int) -> None:
        with lock:
            done.append(item)

    side_by_side(work, range(100), at_once=8)
    assert sorted(done) == list(range(100))
    side_by_side(work, [], at_once=8)


def test_so_many_at_a_time() -> None:
    together = Barrier(4, timeout=60)
    side_by_side(lambda _: (together.wait(), None)[1], range(8), at_once=4)


def test_the_first_error_in_order_is_raised_when_all_work_is_over() -> None:
    late = Event()
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        if item == 0:
            assert late.wait(60)
            message = "first"
            raise ValueError(message)
        if item == 1:
            late.set()
            message = "second"
            raise KeyError(message)

    with pytest.raises(ValueError, match="first"):
        side_by_side(work, range(1000), at_once=2)
    assert len(begun) < 1000
