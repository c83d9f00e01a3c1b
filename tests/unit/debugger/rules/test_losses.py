"""Judgements of losses over steps."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from smlocal_rules.loss_trend import LossTrend, trend_of
from smlocal_rules.losses import TRAINING, VALIDATION, kind_of
from smlocal_rules.rules.overfit import LossGap
from smlocal_rules.rules.overtraining import Improvement
from smlocal_rules.rules.poor_weight_initialization import Progress
from smlocal_rules.rules.stalled_training_rule import LastProgress

Array = npt.NDArray[Any]


def trend(*, num_steps: int = 1, window: int = 200, settled_percent: float = 20) -> LossTrend:
    return LossTrend(
        num_steps=num_steps,
        diff_percent=0.1,
        increase_threshold_percent=5,
        window=window,
        settled_percent=settled_percent,
    )


def first_problem(losses: Iterable[float], of: LossTrend | None = None) -> tuple[int, str] | None:
    """The first look with a problem."""
    seen = of or trend()
    for step, loss in enumerate(losses):
        if seen.add(step, float(loss)) and seen.problem:
            return step, seen.problem
    return None


def noise(seed: int, size: float, count: int = 60) -> Array:
    return 1 + size * np.random.default_rng(seed).normal(size=count)


FALL = np.exp(-np.arange(60) / 15)


def test_a_loss_that_rises_by_less_than_is_allowed_at_every_look() -> None:
    losses = 1.05 * 4 ** (np.arange(40) / 39)  # by less than 4 percent at each look
    assert first_problem(losses) == (4, f"was 1.05 and is {losses[4]:g}, and does not fall over 5 looks")


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("size", [0.001, 0.05, 0.3])
def test_noise_without_a_fall_is_found_and_a_fall_with_noise_is_not(seed: int, size: float) -> None:
    assert first_problem(noise(seed, size))
    assert first_problem(noise(seed, min(size, 0.1)) * FALL) is None


@pytest.mark.parametrize("seed", range(20))
def test_a_loss_that_falls_and_then_rises(seed: int) -> None:
    found = first_problem(noise(seed, 0.1, 120) * np.concatenate([FALL, FALL[::-1]]))
    assert found
    assert found[0] > 60
    assert found[1].startswith("has risen from ")


@pytest.mark.parametrize("value", [3.0, 0.0, -3.0])
def test_a_loss_that_does_not_change(value: float) -> None:
    found = first_problem([value] * 20)
    assert found == (4, f"has been {value:g} at 5 looks")


def test_a_loss_that_is_not_finite_is_found_at_once() -> None:
    assert first_problem([1, math.nan]) == (1, "is nan")
    assert first_problem([math.inf]) == (0, "is inf")


def test_a_negative_loss_falls_away_from_zero() -> None:
    assert first_problem(-1 - np.arange(60) / 20) is None
    assert first_problem(-4 + np.arange(60) / 20)


def test_a_fall_that_is_too_small() -> None:
    assert first_problem(1 - np.arange(60) * 2e-3) is None
    assert first_problem(1 - np.arange(60) * 5e-4) == (9, "has fallen only from 1 to 0.9965 in 10 looks")


def test_a_fall_that_has_become_too_small() -> None:
    losses = np.concatenate([1 - np.arange(10) * 1e-2, 0.9 - np.arange(60) * 5e-4])
    step, text = first_problem(losses) or (0, "")
    assert 30 < step < 40
    assert text.startswith("has fallen only from 0.9")


@pytest.mark.parametrize("seed", range(20))
def test_a_loss_that_has_fallen_far_may_stay_unless_it_is_told_otherwise(seed: int) -> None:
    losses = noise(seed, 0.1, 120) * np.concatenate([FALL[:30], np.full(90, FALL[30])])
    assert first_problem(losses) is None
    found = first_problem(losses, trend(window=20, settled_percent=math.inf))
    assert found
    assert found[0] > 30


def test_a_look_is_the_mean_of_the_losses_of_its_steps() -> None:
    seen = trend(num_steps=10)
    for step in range(0, 31, 3):  # the guide's example: at step 21, step 9 is what is compared with
        seen.add(step, step)
    assert seen.looks == [4.5, 16.5]
    rarely = trend(num_steps=10)
    for step in range(0, 1500, 500):
        rarely.add(step, step)
    assert rarely.looks == [0, 500, 1000]


def test_too_few_looks_are_not_judged() -> None:
    losses = 3 + noise(0, 0.01, 10)
    seen = trend()
    assert first_problem(losses[:9], seen) is None
    assert not seen.judged
    assert first_problem(losses)
    assert first_problem(losses[:5], trend(window=5))


def test_much_noise_takes_more_looks() -> None:
    found = first_problem(noise(0, 0.3))
    assert found
    assert 12 < found[0] < 25


def test_the_trend_counts_pairs() -> None:
    assert trend_of([1, 2, 3]) == pytest.approx(3 / math.sqrt(3 * 2 * 11 / 18))
    assert trend_of([3, 2, 1]) == -trend_of([1, 2, 3])
    assert trend_of([1, 1, 1]) == 0
    assert trend_of([1, 2, 100]) == trend_of([1, 2, 3])


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
