import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.cli.views.figures import MIN_VALUES, sparkline


@pytest.mark.parametrize(
    ("values", "curve"),
    [
        ([7, 5, 3, 2, 1, 0], "█▆▄▃▂▁"),
        ([0.7, 0.5, 0.3], ""),
        ([], ""),
        ([3, 3, 3, 3], "▁▁▁▁"),
        ([0, math.nan, 1, 1, math.inf, 1], "▁ ██ █"),
        ([math.nan] * 9, ""),
    ],
)
def test_values_become_levels(values: list[float], curve: str) -> None:
    assert sparkline(values) == curve


def test_a_scale_may_be_given() -> None:
    assert sparkline([5, 5, 5, 5], low=0, high=10) == "▅▅▅▅"
    assert sparkline([-5, 0, 10, 99], low=0, high=10) == "▁▁██"


def test_neighbours_become_one_where_there_is_no_room() -> None:
    assert sparkline([0, 0, 10, 10, 0, 0, 10, 10], width=4) == "▁█▁█"
    assert sparkline([0, 0, 1e308, 1e308], width=2) == "▁█"


@pytest.mark.parametrize("width", range(1, 17))
def test_whole_numbers_that_are_the_same_are_a_flat_curve(width: int) -> None:
    for value in range(50):
        assert sparkline([value] * 50, width=width) == "▁" * width


@given(st.lists(st.floats(), max_size=100), st.integers(1, 40))
def test_it_never_has_more_than_its_width(values: list[float], width: int) -> None:
    curve = sparkline(values, width=width)
    enough = sum(map(math.isfinite, values)) >= MIN_VALUES
    assert len(curve) == (min(width, len(values)) if enough else 0)
