"""Judgements of losses over steps."""

import math

import pytest
from smlocal_rules.losses import TRAINING, VALIDATION, kind_of
from smlocal_rules.rules.loss_not_decreasing import decreases
from smlocal_rules.rules.overfit import LossGap
from smlocal_rules.rules.overtraining import Improvement
from smlocal_rules.rules.poor_weight_initialization import Progress
from smlocal_rules.rules.stalled_training_rule import LastProgress


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (1.0, 0.9, True),
        (1.0, 0.9995, False),  # less than diff_percent
        (1.0, 1.0, False),
        (1.0, 1.04, True),  # it may rise a little
        (1.0, 1.06, False),
        (-1.0, -1.1, True),  # a loss may be negative
        (-1.0, -0.9, False),
        (0.0, 0.0, False),
        (1.0, math.nan, False),
        (math.nan, 1.0, False),
        (math.inf, 1.0, False),
    ],
)
def test_a_loss_decreases_by_enough(before: float, now: float, expected: bool) -> None:
    assert decreases(before, now, diff_percent=0.1, increase_threshold_percent=5) is expected


def test_modes_and_names_tell_training_and_validation_apart() -> None:
    assert kind_of("Loss_output_0", "TRAIN") == TRAINING
    assert kind_of("Loss_output_0", "EVAL") == VALIDATION
    assert kind_of("Loss_output_0", "GLOBAL") == TRAINING
    assert kind_of("train-rmse", "GLOBAL") == TRAINING
    assert kind_of("validation-rmse", "GLOBAL") == VALIDATION
    assert kind_of("test_loss", "TRAIN") == TRAINING


def test_a_validation_is_compared_with_the_training_since_the_last_one() -> None:
    gap = LossGap()
    assert gap.add(4.0, None, threshold=0.1) is None
    assert gap.add(2.0, None, threshold=0.1) is None
    assert gap.add(None, 3.0, threshold=0.1) == 0
    assert gap.add(None, 6.0, threshold=0.1) == 0.5  # the mean of 3 and 6
    assert gap.steps == 1
    assert gap.add(1.0, 1.5, threshold=0.1) == 0.5
    assert gap.steps == 2
    assert gap.add(1.0, 1.0, threshold=0.1) == 0
    assert gap.steps == 0


def test_without_training_there_is_nothing_to_compare() -> None:
    assert LossGap().add(None, 3.0, threshold=0.1) is None


def test_a_training_loss_of_zero() -> None:
    assert LossGap().add(0.0, 1.0, threshold=0.1) == math.inf
    assert LossGap().add(0.0, 0.0, threshold=0.1) == 0


def test_an_improvement_is_below_the_best_by_delta() -> None:
    seen = Improvement()
    for loss in (1.0, 0.995, 0.99):
        seen.add(loss, delta=0.01)
    assert (seen.best, seen.improved, seen.waiting) == (1.0, False, 2)
    seen.add(0.9, delta=0.01)
    assert (seen.best, seen.improved, seen.waiting) == (0.9, True, 0)
    seen.add(5.0, delta=0.01)
    assert seen.waiting == 1


def test_steps_without_a_decrease_are_counted_for_each_loss() -> None:
    progress = Progress()
    assert [progress.steps_without_decrease("a", loss) for loss in (3, 2, 2, 2.5, 1)] == [0, 0, 1, 2, 0]
    assert progress.steps_without_decrease("b", 9) == 0


def test_time_without_new_steps() -> None:
    progress = LastProgress(10.0)
    assert progress.seconds_without([], 15.0) == 5
    assert progress.seconds_without([0], 20.0) == 0
    assert progress.seconds_without([0], 23.0) == 3
    assert progress.seconds_without([0, 7], 24.0) == 0
    assert progress.step == 7
