"""Looks become points, and nothing of a peak is lost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.contract.usage import Point
from smlocal.engine.statistics import Statistics
from smlocal.job.usage.gpus import GpuUse
from smlocal.job.usage.sampling_rate import FIRST, pause, spacing
from smlocal.job.usage.window import Window


def seen(at: float, **numbers: Any) -> Statistics:
    zeros = {"cpu_seconds": 0.0, "cpus": 4, "memory": 0, "cache": 0, "memory_highest": None}
    unknown = dict.fromkeys(("disk_read", "disk_written", "network_received", "network_sent"))
    return Statistics(**{"at": at, **zeros, **unknown, **numbers})


def window(*, fresh: bool = True) -> Window:
    return Window(began=100.0, fresh=fresh)


def close(one: Window) -> Point:
    point = one.close()
    assert point is not None
    return point


def test_several_looks_are_one_point_with_the_highest_of_each() -> None:
    one = window()
    one.look(101, seen(1001, cpu_seconds=0.5, memory=70, cache=20, disk_read=5), GpuUse(percent=80, memory=3))
    one.look(102, seen(1002, cpu_seconds=2.5, memory=60, cache=20, disk_read=6), None)
    one.look(103, seen(1003, cpu_seconds=3.0, memory=50, cache=10, disk_read=9), GpuUse(percent=10, memory=4))
    assert close(one) == Point(
        at=103,
        cpu_seconds=3.0,
        cpu_cores=2.0,
        memory=50,
        memory_with_cache=70,
        disk_read=9,
        disk_written=None,
        network_received=None,
        network_sent=None,
        gpu_percent=80,
        gpu_memory=4,
    )
    assert one.close() is None


def test_the_first_look_counts_from_the_start() -> None:
    one = window()
    one.look(101, seen(1001, cpu_seconds=1.5), None)
    assert close(one).cpu_cores == 1.5


def test_what_was_used_before_we_came_is_no_peak() -> None:
    one = window(fresh=False)
    one.look(101, seen(1001, cpu_seconds=900.0, memory=50, memory_highest=5000), None)
    point = close(one)
    assert (point.cpu_cores, point.memory, point.memory_with_cache) == (0.0, 50, 5000)


def test_cores_are_told_by_the_engines_clock_and_never_more_than_there_are() -> None:
    one = window()
    one.look(101, seen(1001, cpu_seconds=0.1), None)
    one.look(140, seen(1002, cpu_seconds=1.1), None)
    assert close(one).cpu_cores == pytest.approx(1.0)
    one.look(141, seen(1003, cpu_seconds=9.1), None)
    assert close(one).cpu_cores == 4.0


def test_two_looks_a_moment_apart_say_nothing_of_cores() -> None:
    one = window()
    one.look(101, seen(1001.0, cpu_seconds=0.1), None)
    close(one)
    one.look(102, seen(1001.01, cpu_seconds=0.2), None)
    assert close(one).cpu_cores == 0.0
    one.look(103, seen(1002.0, cpu_seconds=1.1), None)
    assert close(one).cpu_cores == pytest.approx(1.0)


def test_a_short_peak_between_two_looks_is_the_kernels() -> None:
    one = window()
    one.look(101, seen(1001, memory=150, cache=100, memory_highest=150), None)
    assert close(one).memory == 50
    one.look(102, seen(1002, memory=160, cache=110, memory_highest=900), None)
    assert close(one).memory == 900 - 110
    one.look(103, seen(1003, memory=160, cache=110, memory_highest=900), None)
    point = close(one)
    assert (point.memory, point.memory_with_cache) == (50, 900)


def test_file_cache_that_grows_is_no_peak() -> None:
    one = window()
    for second in range(1, 20):
        cache = 1000 * second
        one.look(100 + second, seen(1000 + second, memory=50 + cache, cache=cache, memory_highest=50 + cache), None)
    assert close(one).memory == 50


@given(st.floats(0, 30 * 86400))
def test_looks_become_rare_and_never_rarer_than_five_seconds(elapsed: float) -> None:
    assert FIRST <= pause(elapsed) <= 5


@pytest.mark.parametrize(("days", "most"), [(1 / 1440, 60), (1, 1200), (28, 2000)])
def test_what_is_kept_stays_small(days: float, most: int) -> None:
    elapsed, kept_at, points = FIRST, 0.0, 0
    while elapsed < days * 86400:
        if elapsed - kept_at >= spacing(elapsed):
            points, kept_at = points + 1, elapsed
        elapsed += pause(elapsed)
    assert 20 < points < most
