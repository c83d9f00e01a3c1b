"""The median rule, and results that no longer improve."""

from smlocal.sagemaker.tuning.stopping import CONVERGED_AFTER, SearchProgress, is_below_median
from smlocal.sagemaker.tuning.trials import Objective

LEAST = Objective(metric="loss", direction="Minimize")
MOST = Objective(metric="accuracy", direction="Maximize")


def test_without_earlier_jobs_nothing_is_stopped() -> None:
    assert not is_below_median([9.0], [], LEAST)
    assert not is_below_median([], [[1.0]], LEAST)


def test_the_latest_value_is_compared_with_the_median_of_running_averages() -> None:
    earlier = [[4.0, 2.0], [6.0, 4.0], [8.0, 6.0]]  # averages at the second epoch: 3, 5, 7
    assert not is_below_median([9.0, 5.0], earlier, LEAST)
    assert is_below_median([1.0, 5.1], earlier, LEAST)
    assert is_below_median([9.0, 4.9], earlier, MOST)
    assert not is_below_median([0.0, 5.1], earlier, MOST)


def test_only_jobs_that_reached_the_epoch_count() -> None:
    assert not is_below_median([1.0, 9.0], [[1.0]], LEAST)
    assert is_below_median([1.0, 9.0], [[1.0], [2.0, 2.0]], LEAST)


def test_an_improvement_is_more_than_one_percent() -> None:
    progress = SearchProgress(objective=LEAST)
    for value in (100.0, 99.5, 99.0, 98.0, None):
        progress.add(value, 1.0)
    assert (progress.best, progress.idle) == (98.0, 1)
    negative = SearchProgress(objective=MOST)
    for value in (-10.0, -9.95, -9.0):
        negative.add(value, 1.0)
    assert (negative.best, negative.idle) == (-9.0, 0)


def test_it_converges_once() -> None:
    progress = SearchProgress(objective=LEAST)
    for at in range(CONVERGED_AFTER + 5):
        progress.add(1.0, float(at))
    assert progress.converged == CONVERGED_AFTER
