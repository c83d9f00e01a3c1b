"""Hyperband: the numbers of the paper, and what it is worth."""

import pytest
from tests.unit.sagemaker.tuning.curves import best_with

from smlocal.sagemaker.tuning.stopping import Hyperband


def test_the_brackets_are_those_of_the_paper() -> None:
    band = Hyperband(least=1, most=81)
    assert band.brackets == 5
    assert [band.size(bracket) for bracket in range(5)] == [81, 34, 15, 8, 5]
    assert [list(band.levels(bracket)) for bracket in range(5)] == [[1, 3, 9, 27], [3, 9, 27], [9, 27], [27], []]


def test_rounds_go_through_the_brackets() -> None:
    band = Hyperband(least=1, most=9)
    found = [band.bracket_of(index) for index in range(34)]
    sizes = [band.size(bracket) for bracket in range(3)]
    assert sizes == [9, 5, 3]
    assert found == ([0] * 9 + [1] * 5 + [2] * 3) * 2


def test_a_trial_ends_at_the_most_resource() -> None:
    band = Hyperband(least=1, most=9)
    assert not band.stops(1, 2, [1.0] * 8)
    assert band.stops(1, 2, [1.0] * 9)


def test_trials_of_an_earlier_supervisor_count() -> None:
    band = Hyperband(least=1, most=9)
    band.remember({1: (0, [0.5]), 2: (0, [0.4]), 3: (1, [0.1])})
    assert band.stops(4, 0, [0.6])
    assert not band.stops(5, 0, [0.3])


def test_it_finds_more_than_random_search_with_the_same_budget() -> None:
    budget = 27 * 40
    better = sum(  # of two seeds: with the same one, both would begin with the same points
        best_with("Hyperband", seed, budget=budget, most=27) < best_with("Random", 1000 + seed, budget=budget, most=27)
        for seed in range(20)
    )
    assert better >= 15


@pytest.mark.parametrize("least", [1, 2, 3])
def test_every_trial_is_judged_after_its_least_resource(least: int) -> None:
    band = Hyperband(least=least, most=27)
    for index in range(60):
        levels = band.levels(band.bracket_of(index))
        assert all(level >= least for level in levels)
