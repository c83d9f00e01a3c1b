"""Samples become points, and no peak is lost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.engine.interface import Statistics
from smlocal.jobs.usage.sampler import GpuUsage, PointBuilder, point_seconds, sampling_pause
from smlocal.terms.usage import Point


def sample(at: float, **numbers: Any) -> Statistics:
    zeros = {"cpu_seconds": 0.0, "cpus": 4, "memory": 0, "cache": 0, "memory_highest": None}
    unknown = dict.fromkeys(("disk_read", "disk_written", "network_received", "network_sent"))
    return Statistics(**{"at": at, **zeros, **unknown, **numbers})


def builder(*, from_start: bool = True) -> PointBuilder:
    return PointBuilder(began=100.0, from_start=from_start)


def take(one: PointBuilder) -> Point:
    point = one.take()
    assert point is not None
    return point


def test_several_samples_are_one_point_with_the_highest_of_each() -> None:
    one = builder()
    one.add(101, sample(1001, cpu_seconds=0.5, memory=70, cache=20, disk_read=5), GpuUsage(percent=80, memory=3))
    one.add(102, sample(1002, cpu_seconds=2.5, memory=60, cache=20, disk_read=6), None)
    one.add(103, sample(1003, cpu_seconds=3.0, memory=50, cache=10, disk_read=9), GpuUsage(percent=10, memory=4))
    assert take(one) == Point(
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
    assert one.take() is None


def test_the_first_sample_counts_from_the_start() -> None:
    one = builder()
    one.add(101, sample(1001, cpu_seconds=1.5), None)
    assert take(one).cpu_cores == 1.5


def test_what_was_used_before_we_came_is_no_peak() -> None:
    one = builder(from_start=False)
    one.add(101, sample(1001, cpu_seconds=900.0, memory=50, memory_highest=5000), None)
    point = take(one)
    assert (point.cpu_cores, point.memory, point.memory_with_cache) == (0.0, 50, 5000)


def test_cores_are_told_by_the_engines_clock_and_never_more_than_there_are() -> None:
    one = builder()
    one.add(101, sample(1001, cpu_seconds=0.1), None)
    one.add(140, sample(1002, cpu_seconds=1.1), None)
    assert take(one).cpu_cores == pytest.approx(1.0)
    one.add(141, sample(1003, cpu_seconds=9.1), None)
    assert take(one).cpu_cores == 4.0


def test_two_samples_too_close_together_give_no_cores() -> None:
    one = builder()
    one.add(101, sample(1001.0, cpu_seconds=0.1), None)
    take(one)
    one.add(102, sample(1001.01, cpu_seconds=0.2), None)
    assert take(one).cpu_cores == 0.0
    one.add(103, sample(1002.0, cpu_seconds=1.1), None)
    assert take(one).cpu_cores == pytest.approx(1.0)


def test_a_short_peak_between_two_samples_comes_from_the_kernel() -> None:
    one = builder()
    one.add(101, sample(1001, memory=150, cache=100, memory_highest=150), None)
    assert take(one).memory == 50
    one.add(102, sample(1002, memory=160, cache=110, memory_highest=900), None)
    assert take(one).memory == 900 - 110
    one.add(103, sample(1003, memory=160, cache=110, memory_highest=900), None)
    point = take(one)
    assert (point.memory, point.memory_with_cache) == (50, 900)


def test_file_cache_that_grows_is_no_peak() -> None:
    one = builder()
    for second in range(1, 20):
        cache = 1000 * second
        one.add(100 + second, sample(1000 + second, memory=50 + cache, cache=cache, memory_highest=50 + cache), None)
    assert take(one).memory == 50


@given(st.floats(0, 30 * 86400))
def test_samples_become_rare_and_never_rarer_than_five_seconds(elapsed: float) -> None:
    assert 1 <= sampling_pause(elapsed) <= 5


@pytest.mark.parametrize(("days", "most"), [(1 / 1440, 60), (1, 1200), (28, 2000)])
def test_what_is_kept_stays_small(days: float, most: int) -> None:
    elapsed, kept_at, points = 1.0, 0.0, 0
    while elapsed < days * 86400:
        if elapsed - kept_at >= point_seconds(elapsed):
            points, kept_at = points + 1, elapsed
        elapsed += sampling_pause(elapsed)
    assert 20 < points < most
