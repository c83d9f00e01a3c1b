"""Work on many hosts at once."""

from pathlib import Path
from threading import Barrier, Event, Lock

import pytest

from smlocal.base.threads import run_each, run_parallel
from smlocal.jobs.host.staging import _make_directory


def test_every_item_is_worked_on_once() -> None:
    lock, done = Lock(), []

    def work(item: int) -> None:
        with lock:
            done.append(item)

    run_parallel(work, range(100), at_once=8)
    assert sorted(done) == list(range(100))
    run_parallel(work, [], at_once=8)


def test_so_many_at_a_time() -> None:
    together = Barrier(4, timeout=60)
    run_parallel(lambda _: (together.wait(), None)[1], range(8), at_once=4)


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
        run_parallel(work, range(1000), at_once=2)
    assert len(begun) < 1000


def test_hosts_that_are_staged_at_once_have_folders_in_common(tmp_path: Path) -> None:
    for number in range(50):
        together = Barrier(8, timeout=60)

        def make(host: int, folder: Path = tmp_path / str(number), together: Barrier = together) -> None:
            together.wait()
            _make_directory(str(folder / "hosts" / str(host) / "input"))

        run_parallel(make, range(8), at_once=8)
        assert len(list((tmp_path / str(number) / "hosts").glob("*/input"))) == 8


def test_each_has_a_thread_and_errors_are_told_by_the_item() -> None:
    together = Barrier(4, timeout=60)

    def work(item: str) -> None:
        together.wait()
        if item == "bad":
            raise ValueError(item)

    errors = run_each(work, ["good", "bad", "fine"], meanwhile=lambda: (together.wait(), None)[1])
    assert {number: str(error) for number, error in errors.items()} == {1: "bad"}
    assert run_each(work, []) == {}
