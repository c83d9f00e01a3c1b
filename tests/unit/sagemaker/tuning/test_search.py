"""A search: its next training jobs, and how it ends."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from smlocal.sagemaker.tuning.ranges import Range
from smlocal.sagemaker.tuning.search import Search, SearchPlan, first_points, size_of
from smlocal.sagemaker.tuning.trials import (
    Objective,
    SearchDefinition,
    Trial,
    trial_of,
)

LEAST = Objective(metric="loss", direction="Minimize")
MOST = Objective(metric="accuracy", direction="Maximize")
RANGES = (Range(name="n", kind="Integer", low=1, high=1000),)
PLAN = SearchPlan(
    strategy="Random",
    definitions=(SearchDefinition(objective=LEAST, ranges=RANGES),),
    seed=3,
    most=6,
    parallel=2,
)


def named(number: int) -> str:
    return f"t-{number}"


def search(**changes: Any) -> Search:
    return Search(plan=replace(PLAN, **changes))


def end(of: Search, trial: Trial, value: float | None = None, status: str = "Completed") -> None:
    trial.status, trial.value = status, value
    of.end(trial, 0.0)


def run(of: Search, result: Callable[[Trial], float | None], status: str = "Completed") -> str | None:
    """To its end; returns its failure."""
    while (verdict := of.verdict(0.0)) is None:
        while of.next(named) is not None:
            pass
        end(of, of.running[0], result(of.running[0]), status)
    return verdict.reason if verdict.failed else None


def test_a_training_job_that_could_not_be_recorded_is_none() -> None:
    it = search()
    first, second = it.next(named), it.next(named)
    assert first is not None
    assert second is not None
    it.forget(second)
    assert (it.trials, it.running, it.status_counters["InProgress"]) == ([first], [first], 1)


def test_no_more_run_at_once_than_may() -> None:
    it = search()
    first, second = it.next(named), it.next(named)
    assert it.next(named) is None
    assert first is not None
    assert second is not None
    end(it, first, 1.0)
    assert it.next(named) is not None
    assert [each.name for each in it.running] == ["t-2", "t-3"]


def test_it_ends_after_all_training_jobs_with_the_best() -> None:
    it = search()
    assert run(it, lambda trial: float(trial.tuned["n"])) is None
    assert len(it.trials) == 6
    assert it.best is not None
    assert it.best.value == min(float(each.tuned["n"]) for each in it.trials)


def remembered(*trials: Trial, objective: Objective = MOST) -> Search:
    it = search(definitions=(SearchDefinition(objective=objective, ranges=RANGES),))
    it.remember(trials)
    return it


def test_the_first_of_equals_is_the_best() -> None:
    trials = [Trial(number=number, name=named(number), status="Completed", value=1.0) for number in (1, 2)]
    assert remembered(*trials).best is trials[0]


def test_failed_trials_are_never_the_best() -> None:
    trials = [
        Trial(number=1, name="a", status="Failed", value=9.0),
        Trial(number=2, name="b", status="Stopped", value=5.0),
        Trial(number=3, name="c", status="InProgress"),
        Trial(number=4, name="d", status="Failed", retryable=True),
        Trial(number=5, name="e", status="Stopping"),
    ]
    it = remembered(*trials)
    assert it.best is trials[1]
    counted = {"Completed": 0, "InProgress": 2, "RetryableError": 1, "NonRetryableError": 1, "Stopped": 1}
    assert it.status_counters == counted
    assert it.objective_counters == {"Succeeded": 1, "Pending": 2, "Failed": 2}


def test_a_small_space_is_exhausted() -> None:
    it = search(definitions=(SearchDefinition(objective=LEAST, ranges=(replace(RANGES[0], high=3),)),))
    assert run(it, lambda _: 1.0) is None
    assert sorted(each.tuned["n"] for each in it.trials) == ["1", "2", "3"]


def test_five_failures_without_a_result_end_it() -> None:
    it = search(most=20)
    assert (run(it, lambda _: None, "Failed") or "").startswith("No training job succeeded after 5 attempts. ")
    assert len(it.trials) == 6  # one runs


def test_all_of_a_few_fail() -> None:
    it = search(most=3)
    assert (run(it, lambda _: None, "Failed") or "").startswith("All training jobs failed.")


def test_no_metric_at_all() -> None:
    assert (run(search(), lambda _: None) or "").startswith("No objective metrics found after running 5")


def test_a_result_outweighs_failures() -> None:
    it = search(most=8)
    assert run(it, lambda trial: 1.0 if trial.number == 1 else None) is None


@pytest.mark.parametrize(("objective", "target"), [(LEAST, 2.0), (MOST, 2.0)])
def test_a_target_ends_it(objective: Objective, target: float) -> None:
    it = search(target=target, definitions=(SearchDefinition(objective=objective, ranges=RANGES),))
    first = it.next(named)
    assert first is not None
    end(it, first, 3.0 if objective is LEAST else 1.0)
    assert it.verdict(0.0) is None
    second = it.next(named)
    assert second is not None
    end(it, second, 2.0)
    verdict = it.verdict(0.0)
    assert verdict is not None
    assert (verdict.failed, "TargetObjectiveMetricValue" in verdict.reason) == (False, True)


def test_results_that_do_not_improve_end_it() -> None:
    it = search(most=20, parallel=1, idle=3)
    values = iter([10.0, 9.0, 8.95, 9.5, 8.93, 1.0])
    assert run(it, lambda _: next(values)) is None
    assert len(it.trials) == 5  # 8.95 is no improvement of more than 1 %


def test_time_ends_it() -> None:
    it = search(runtime=100.0)
    it.next(named)
    assert it.verdict(99.0) is None
    verdict = it.verdict(100.0)
    assert verdict is not None
    assert not verdict.failed


def test_convergence_ends_it() -> None:
    it = search(most=50, parallel=1, until_converged=True)
    assert run(it, lambda _: 1.0) is None
    assert len(it.trials) == 21


def test_definitions_take_turns() -> None:
    other = SearchDefinition(objective=LEAST, ranges=(Range(name="b", kind="Categorical", values=("x", "y")),))
    it = search(definitions=(PLAN.definitions[0], other))
    assert run(it, lambda _: 1.0) is None
    assert [each.definition for each in it.trials] == [0, 1, 0, 1, 0, 0]  # the second one is exhausted


def test_another_supervisor_goes_on_with_the_same_points() -> None:
    whole = search()
    run(whole, lambda trial: float(trial.number))
    for count in range(6):
        stored = [trial_of(each.document()) for each in whole.trials[:count]]
        it = search()
        it.remember(stored)
        run(it, lambda trial: float(trial.number))
        assert [each.tuned for each in it.trials] == [each.tuned for each in whole.trials]


def test_points_of_parents_are_not_tried_again() -> None:
    ranges = (replace(RANGES[0], high=4),)
    earlier = (({"n": "2"}, 1.0), ({"n": "3"}, 2.0))
    taken = tuple(point for point, _ in earlier)
    it = search(definitions=(SearchDefinition(objective=LEAST, ranges=ranges, earlier=earlier, taken=taken),))
    run(it, lambda _: 1.0)
    assert sorted(each.tuned["n"] for each in it.trials) == ["1", "4"]


def test_a_search_whose_parents_have_tried_everything_says_so() -> None:
    taken = tuple({"n": str(number)} for number in range(1, 5))
    it = search(definitions=(SearchDefinition(objective=LEAST, ranges=(replace(RANGES[0], high=4),), taken=taken),))
    assert it.next(named) is None
    verdict = it.verdict(0.0)
    assert verdict is not None
    assert (verdict.failed, verdict.reason) == (False, "the parents have tried every combination")


def test_the_first_points_are_known_before_it_begins() -> None:
    it = search()
    run(it, lambda _: 1.0)
    assert [each.tuned for each in first_points(PLAN, 4)] == [each.tuned for each in it.trials[:4]]
    assert size_of(PLAN) == 1000


def test_a_trial_that_is_worse_than_the_median_is_stopped() -> None:
    it = search(early=True)
    good = it.next(named)
    assert good is not None
    it.values[good.number] = [1.0, 0.5]
    assert not it.stops(good)
    end(it, good, 0.5)
    bad = it.next(named)
    assert bad is not None
    it.values[bad.number] = [0.9]
    assert not it.stops(bad)
    it.values[bad.number] = [0.9, 0.9]
    assert it.stops(bad)


def test_a_search_among_a_trillion_points_begins_at_once() -> None:
    values = tuple(str(number) for number in range(10))
    ranges = tuple(Range(name=f"c{number}", kind="Categorical", values=values) for number in range(12))
    plan = replace(PLAN, definitions=(SearchDefinition(objective=LEAST, ranges=ranges),), most=10_000)
    assert size_of(plan) == 10**12
    points = [tuple(each.tuned.values()) for each in first_points(plan, 1000)]
    assert len(set(points)) == 1000


def test_hyperband_stops_what_is_not_among_the_best_third() -> None:
    it = search(strategy="Hyperband", least_resource=1, most_resource=9, most=9, parallel=9)
    for _ in range(9):
        it.next(named)
    stopped = []
    for trial in it.trials:
        it.values[trial.number] = [float(trial.number)]
        if it.stops(trial):
            stopped.append(trial.number)
    assert stopped == [2, 3, 4, 5, 6, 7, 8, 9]  # the first one is the best at each moment
