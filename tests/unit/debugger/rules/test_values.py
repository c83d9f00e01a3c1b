"""Judgements of the values of single tensors."""

import numpy as np
import pytest
from smlocal_rules.rules.all_zero import percentage_of_zeros
from smlocal_rules.rules.dead_relu import percentage_of_inactive
from smlocal_rules.rules.exploding_tensor import not_finite
from smlocal_rules.rules.saturated_activation import percentage_of_saturated
from smlocal_rules.rules.similar_across_runs import differs
from smlocal_rules.rules.tensor_variance import TensorVariance
from smlocal_rules.rules.unchanged_tensor import unchanged
from smlocal_rules.rules.weight_update_ratio import update_ratio


def test_zeros_are_counted() -> None:
    assert percentage_of_zeros(np.zeros((2, 2))) == 100
    assert percentage_of_zeros(np.array([0, 0, 0, 1e-30])) == 75
    assert percentage_of_zeros(np.array(0.0)) == 100


def test_a_unit_is_inactive_if_too_few_samples_activate_it() -> None:
    active = np.array([[True, True, False, False], [True, False, False, False]])
    assert percentage_of_inactive(active, 1) == 50
    assert percentage_of_inactive(active, 51) == 75
    assert percentage_of_inactive(active.reshape(2, 2, 2), 1) == 50


def test_a_node_is_saturated_if_its_inputs_are_outside_of_the_limits() -> None:
    inputs = np.array([[0.0, 10.0, -10.0, 9.0]])
    assert percentage_of_saturated(inputs, -9.4999, 9.4999, 1) == 50
    assert percentage_of_saturated(inputs, -5, 5, 1) == 75


@pytest.mark.parametrize(
    ("value", "exploded", "exploded_to_nan"), [(1.0, False, False), (np.inf, True, False), (np.nan, True, True)]
)
def test_nan_and_infinity(value: float, exploded: bool, exploded_to_nan: bool) -> None:
    array = np.array([0.0, value])
    assert not_finite(array, only_nan=False) is exploded
    assert not_finite(array, only_nan=True) is exploded_to_nan


def test_whole_numbers_are_finite() -> None:
    assert not not_finite(np.array([1, 2]), only_nan=False)


def test_limits_of_the_variance() -> None:
    both = TensorVariance(min_threshold=0.1, max_threshold=10.0)
    assert [both.is_outside(each) for each in (0.05, 0.1, 1, 10, 11)] == [True, False, False, False, True]
    assert not TensorVariance(max_threshold=10.0).is_outside(0)
    assert not TensorVariance(min_threshold=0.1).is_outside(1e9)


def test_a_tensor_is_unchanged_within_the_tolerances() -> None:
    arrays = [np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-6])]
    assert unchanged(arrays, rtol=1e-5, atol=0, equal_nan=False)
    assert not unchanged(arrays, rtol=0, atol=1e-8, equal_nan=False)
    nan = [np.array([np.nan])] * 2
    assert not unchanged(nan, rtol=1e-5, atol=1e-8, equal_nan=False)
    assert unchanged(nan, rtol=1e-5, atol=1e-8, equal_nan=True)


def test_another_shape_is_a_change_and_a_difference() -> None:
    assert not unchanged([np.zeros(2), np.zeros(3)], rtol=1, atol=1, equal_nan=False)
    assert differs(np.zeros(2), np.zeros((2, 1)))


def test_runs_differ_by_more_than_rounding() -> None:
    assert not differs(np.array([1.0, np.nan]), np.array([1.0 + 1e-9, np.nan]))
    assert differs(np.array([1.0]), np.array([1.1]))


def test_the_ratio_of_an_update() -> None:
    before, now = np.array([1.0, -3.0]), np.array([1.5, -2.5])
    assert update_ratio(before, now, before, 0) == 0.25
    assert update_ratio(before, now, np.zeros(2), 0.5) == 1
