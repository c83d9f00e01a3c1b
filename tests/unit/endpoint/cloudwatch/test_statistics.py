import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.endpoint.cloudwatch.operations import STATISTICS, buckets, first_period, is_period, number_of_periods


def test_values_are_put_into_the_period_of_their_time() -> None:
    points = [(121.0, 4.0), (60.0, 1.0), (119.9, 3.0), (59.9, 9.0), (180.0, 9.0)]
    found = buckets(points, start=100, end=180, period=60)
    assert [(each.begin, each.count, each.total, each.lowest, each.highest) for each in found] == [
        (60, 2, 4.0, 1.0, 3.0),
        (120, 1, 4.0, 4.0, 4.0),
    ]
    assert {name: found[0].statistic(name) for name in STATISTICS} == {
        "SampleCount": 2.0,
        "Average": 2.0,
        "Sum": 4.0,
        "Minimum": 1.0,
        "Maximum": 3.0,
    }


@pytest.mark.parametrize(("period", "first"), [(60, 1740), (300, 1740), (30, 1770), (10, 1790), (1, 1799)])
def test_periods_begin_at_a_minute_and_short_ones_at_a_part_of_it(period: int, first: int) -> None:
    assert first_period(1799.5, period) == first


def test_the_service_knows_some_short_periods_and_minutes() -> None:
    assert [each for each in range(1, 200) if is_period(each)] == [1, 5, 10, 20, 30, 60, 120, 180]


@given(
    points=st.lists(st.tuples(st.floats(0, 5000), st.floats(-100, 100))),
    start=st.floats(0, 4000),
    length=st.floats(1, 2000),
    period=st.sampled_from([1, 30, 60, 300]),
)
def test_no_value_is_lost_or_counted_twice(
    points: list[tuple[float, float]], start: float, length: float, period: int
) -> None:
    found = buckets(points, start=start, end=start + length, period=period)
    begin = first_period(start, period)
    inside = [value for at, value in points if begin <= at < start + length]
    assert sum(each.count for each in found) == len(inside)
    assert math.isclose(sum(each.total for each in found), sum(inside), abs_tol=1e-6)
    assert len(found) <= number_of_periods(start, start + length, period)
    assert [each.begin for each in found] == sorted({each.begin for each in found})
