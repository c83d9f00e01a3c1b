"""Bayesian search, by Optuna."""

import sys

import pytest

from smlocal.errors.of_jobs import TuningLibraryError
from smlocal.sagemaker.tuning.bayesian import load_library
from smlocal.sagemaker.tuning.ranges import Range
from smlocal.sagemaker.tuning.search import Search, SearchPlan
from smlocal.sagemaker.tuning.trials import Objective, SearchDefinition, Trial, trial_of

RANGES = (
    Range(name="x", kind="Continuous", low=-5.0, high=5.0),
    Range(name="n", kind="Integer", low=1, high=100, scaling="Logarithmic"),
    Range(name="d", kind="Continuous", low=0.0, high=0.999, scaling="ReverseLogarithmic"),
    Range(name="c", kind="Categorical", values=("a", "b")),
)
LOSS = Objective(metric="loss", direction="Minimize")


def loss(trial: Trial) -> float:
    point = trial.tuned
    return (float(point["x"]) - 2) ** 2 + abs(int(point["n"]) - 10) / 10 + float(point["d"]) + (point["c"] == "a")


def search(ranges: tuple[Range, ...] = RANGES, *, most: int = 25, earlier: bool = False) -> Search:
    known = (({"x": "2.0", "n": "10", "d": "0.5", "c": "b"}, 0.5), ({"x": "9.0", "n": "10", "d": "0", "c": "b"}, 9.0))
    parents = known if earlier else ()
    taken = tuple(point for point, _ in parents)
    definition = SearchDefinition(objective=LOSS, ranges=ranges, earlier=parents, taken=taken)
    return Search(plan=SearchPlan(strategy="Bayesian", definitions=(definition,), seed=1, most=most, parallel=2))


def run(it: Search, count: int) -> None:
    """So many results."""
    for _ in range(count):
        while it.next(str) is not None:
            pass
        if not it.running:
            return
        trial = it.running[0]
        trial.status, trial.value = "Completed", loss(trial) if "x" in trial.tuned else 1.0
        it.end(trial, 0.0)


def test_it_chooses_points_in_the_ranges_and_none_twice() -> None:
    pytest.importorskip("optuna", reason="it is the extra smlocal[tuning]")
    it = search(earlier=True)
    run(it, 25)
    assert all(each.holds(trial.tuned[each.name]) for each in RANGES for trial in it.trials)
    assert len({tuple(trial.tuned.items()) for trial in it.trials}) == 25
    assert it.best is not None


def test_another_supervisor_chooses_the_same_points() -> None:
    pytest.importorskip("optuna", reason="it is the extra smlocal[tuning]")
    whole = search(most=14)
    run(whole, 14)
    it = search(most=14)
    it.remember([trial_of(each.document()) for each in whole.trials[:12]])
    run(it, 2)
    assert [each.tuned for each in it.trials] == [each.tuned for each in whole.trials]


def test_a_small_space_is_exhausted() -> None:
    pytest.importorskip("optuna", reason="it is the extra smlocal[tuning]")
    it = search((RANGES[3],), most=5)
    run(it, 5)
    assert sorted(each.tuned["c"] for each in it.trials) == ["a", "b"]


def test_without_the_library_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(TuningLibraryError) as raised:
        load_library()
    assert "smlocal[tuning]" in " ".join(raised.value.remedy)
