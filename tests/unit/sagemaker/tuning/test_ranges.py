"""Ranges of hyperparameters, and points in them."""

import math
from itertools import islice

import pytest

from smlocal.sagemaker.tuning.ranges import Range, combinations, grid, nth_point, random_points, ranges_of

LR = Range(name="lr", kind="Continuous", low=1e-4, high=1.0)
DEPTH = Range(name="depth", kind="Integer", low=1, high=8)
BOOSTER = Range(name="booster", kind="Categorical", values=("tree", '"linear"'))


def test_ranges_are_read_from_a_request() -> None:
    document = {
        "ContinuousParameterRanges": [{"Name": "lr", "MinValue": "0.0001", "MaxValue": "1"}],
        "IntegerParameterRanges": [{"Name": "depth", "MinValue": "1", "MaxValue": "8", "ScalingType": "Linear"}],
        "CategoricalParameterRanges": [{"Name": "booster", "Values": ["tree", '"linear"']}],
    }
    depth, rate, booster = ranges_of(document)
    assert (rate, booster) == (LR, BOOSTER)
    assert (depth.low, depth.high, depth.scale) == (1, 8, "Linear")
    assert ranges_of(None) == ()


@pytest.mark.parametrize(
    ("low", "high", "scaling", "scale"),
    [
        (1e-4, 1.0, "Auto", "Logarithmic"),
        (0.5, 1.0, "Auto", "Linear"),
        (-1.0, 1000.0, "Auto", "Linear"),
        (0.1, 0.9, "ReverseLogarithmic", "ReverseLogarithmic"),
    ],
)
def test_the_scale_of_a_range(low: float, high: float, scaling: str, scale: str) -> None:
    assert Range(name="x", kind="Continuous", low=low, high=high, scaling=scaling).scale == scale


@pytest.mark.parametrize("kind", ["Integer", "Continuous"])
@pytest.mark.parametrize("scaling", ["Auto", "Linear", "Logarithmic", "ReverseLogarithmic"])
def test_values_stay_in_the_range_and_reach_its_ends(kind: str, scaling: str) -> None:
    low, high = (0.25, 0.75) if kind == "Continuous" else (3, 7)
    if kind == "Integer" and scaling == "ReverseLogarithmic":
        scaling = "Auto"
    given = Range(name="x", kind=kind, low=low, high=high, scaling=scaling)  # type: ignore[arg-type]  # of parameters
    values = [float(given.at(share / 1000)) for share in range(1000)]
    assert all(low <= value <= high for value in values)
    assert values == sorted(values)
    assert values[0] == pytest.approx(low)
    assert max(values) == pytest.approx(high, rel=0.01)


def test_a_logarithmic_scale_gives_each_decade_the_same_share() -> None:
    assert float(LR.at(0.25)) == pytest.approx(1e-3)
    assert float(LR.at(0.5)) == pytest.approx(1e-2)
    reverse = Range(name="x", kind="Continuous", low=0.0, high=0.9999, scaling="ReverseLogarithmic")
    assert float(reverse.at(0.5)) == pytest.approx(0.99)


def test_integers_are_whole_and_categories_are_as_they_are_written() -> None:
    assert {DEPTH.at(share / 100) for share in range(100)} == {str(number) for number in range(1, 9)}
    assert {BOOSTER.at(0.0), BOOSTER.at(0.99)} == {"tree", '"linear"'}


def test_a_grid_has_every_combination_once() -> None:
    other = Range(name="n", kind="Categorical", values=("1", "2", "3"))
    points = list(grid([BOOSTER, other]))
    assert len(points) == combinations([BOOSTER, other]) == 6
    assert len({tuple(point.items()) for point in points}) == 6
    assert points[0] == {"booster": "tree", "n": "1"}


def test_a_space_is_counted_without_making_its_points() -> None:
    wide = [Range(name=f"c{index}", kind="Categorical", values=tuple(map(str, range(10)))) for index in range(12)]
    assert combinations(wide) == 10**12
    assert nth_point(wide, 10**12 - 1) == {f"c{index}": "9" for index in range(12)}
    assert combinations([LR, DEPTH]) is None
    assert combinations([DEPTH]) == 8


def test_only_the_seed_decides_random_points() -> None:
    one = list(islice(random_points([LR, DEPTH, BOOSTER], 7), 50))
    assert one == list(islice(random_points([LR, DEPTH, BOOSTER], 7), 50))
    assert one != list(islice(random_points([LR, DEPTH, BOOSTER], 8), 50))
    assert all(math.isfinite(float(point["lr"])) for point in one)


def test_no_random_point_comes_twice_and_all_come() -> None:
    points = list(random_points([DEPTH, BOOSTER], 1))
    assert len(points) == len({tuple(point.items()) for point in points}) == 16
    taken = points[:10]
    assert [point for point in random_points([DEPTH, BOOSTER], 2, taken=taken) if point in taken] == []


def test_points_of_parents_outside_of_the_ranges_are_no_points_of_this_space() -> None:
    taken = [{"depth": str(number), "booster": "x"} for number in range(100, 140)]
    assert len(list(random_points([DEPTH, BOOSTER], 1, taken=taken))) == 16


def test_a_value_may_be_outside_of_a_range() -> None:
    assert DEPTH.holds("8")
    assert not DEPTH.holds("9")
    assert not DEPTH.holds("tree")
    assert not BOOSTER.holds("other")
