"""A search: which training job is next, which are stopped, and how the search ends. Pure."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Final, Protocol

from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.ranges import Point, combinations, grid, random_points
from smlocal.sagemaker.tuning.stopping import Hyperband, SearchProgress, is_below_median
from smlocal.sagemaker.tuning.trials import Objective, SearchDefinition, Trial

_SEED_STEP: Final = 7919
"""Between the seeds of definitions: they do not search the same numbers."""


class Proposer(Protocol):
    """Chooses points of one definition."""

    def propose(self, trials: Sequence[Trial]) -> Point | None:
        """The next point; `trials` are those of the definition. None if there is none left."""
        ...


@dataclass(kw_only=True, slots=True)
class ListedPoints:
    """Proposes points in an order that does not depend on results: a grid, or random points."""

    points: Iterator[Point]

    def propose(self, trials: Sequence[Trial]) -> Point | None:  # noqa: ARG002 - no result matters
        """The next point."""
        return next(self.points, None)


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchPlan:
    """The rules of a search."""

    strategy: str
    definitions: tuple[SearchDefinition, ...]
    seed: int
    most: int
    """Training jobs."""
    parallel: int
    runtime: float | None = None
    """Seconds."""
    early: bool = False
    """Stop training jobs by the median rule."""
    least_resource: int = 1
    most_resource: int = 0
    target: float | None = None
    idle: int | None = None
    """Training jobs without an improvement that end the search."""
    until_converged: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """How a search ends, and why."""

    failed: bool
    reason: str
    """If it failed: FailureReason. Else why it ended, for people."""


@dataclass(kw_only=True, slots=True)
class Search:
    """The state of a search."""

    plan: SearchPlan
    trials: list[Trial] = field(default_factory=list)
    values: dict[int, list[float]] = field(default_factory=dict)
    """The values of each trial's objective metric so far, by its number."""
    proposers: list[Proposer] = field(default_factory=list)
    progress: SearchProgress = field(init=False)
    band: Hyperband | None = None
    exhausted: bool = False
    """True if no definition has a point left."""
    best: Trial | None = None
    """The one with the best result so far; the first of equals. Definitions are compared by their values."""
    _running: dict[int, Trial] = field(default_factory=dict)
    _statuses: Counter[str] = field(default_factory=Counter)
    """Of trials that have ended, as TrainingJobStatusCounters calls them."""
    _results: int = 0

    def __post_init__(self) -> None:
        plan = self.plan
        self.progress = SearchProgress(objective=plan.definitions[0].objective)
        if plan.strategy == "Hyperband":
            self.band = Hyperband(least=plan.least_resource, most=plan.most_resource)
        if not self.proposers:
            self.proposers = [proposer_of(plan, index) for index in range(len(plan.definitions))]

    @property
    def objectives(self) -> Mapping[int, Objective]:
        """By the index of the definition."""
        return {index: each.objective for index, each in enumerate(self.plan.definitions)}

    @property
    def running(self) -> list[Trial]:
        """The trials that have not ended."""
        return list(self._running.values())

    def recall_values(self, values: Mapping[int, list[float]]) -> None:
        """The values that trials have written under an earlier supervisor."""
        self.values.update(values)
        if self.band is not None:
            self.band.remember(
                {
                    each.number: (
                        each.bracket,
                        [self.objectives[each.definition].cost(value) for value in values.get(each.number, ())],
                    )
                    for each in self.trials
                    if each.over
                }
            )

    @property
    def status_counters(self) -> dict[str, int]:
        """TrainingJobStatusCounters."""
        names = ("Completed", "InProgress", "RetryableError", "NonRetryableError", "Stopped")
        return {name: self._statuses[name] for name in names} | {"InProgress": len(self._running)}

    @property
    def objective_counters(self) -> dict[str, int]:
        """ObjectiveStatusCounters."""
        return {"Succeeded": self._results, "Pending": len(self._running), "Failed": self._ended - self._results}

    @property
    def _ended(self) -> int:
        return self._statuses.total()

    @property
    def _failures(self) -> int:
        return self._statuses["RetryableError"] + self._statuses["NonRetryableError"]

    def remember(self, trials: Sequence[Trial]) -> None:
        """Go on with the trials of an earlier supervisor: their points are proposed once more, and dropped."""
        for each in trials:
            if self.plan.strategy != "Bayesian":
                self.proposers[each.definition].propose(())
            self.trials.append(each)
            if each.over:
                self._count(each, each.ended or 0.0)
            else:
                self._running[each.number] = each

    def next(self, name: Callable[[int], str]) -> Trial | None:
        """The next trial, if there is room for one. `name` makes the name of its job from its number."""
        if self.exhausted or len(self.trials) >= self.plan.most or len(self._running) >= self.plan.parallel:
            return None
        number = len(self.trials) + 1
        count = len(self.proposers)
        for step in range(count):
            definition = (number - 1 + step) % count
            point = self.proposers[definition].propose([t for t in self.trials if t.definition == definition])
            if point is not None:
                bracket = 0 if self.band is None else self.band.bracket_of(number - 1)
                trial = Trial(number=number, name=name(number), definition=definition, tuned=point, bracket=bracket)
                self.trials.append(trial)
                self._running[number] = trial
                return trial
        self.exhausted = True
        return None

    def watches_values(self) -> bool:
        """True if the values of running trials matter."""
        return self.plan.early or self.band is not None

    def stops(self, trial: Trial) -> bool:
        """True if a running trial is to be stopped: others are better."""
        values = self.values.get(trial.number) or ()
        objective = self.plan.definitions[trial.definition].objective
        if self.band is not None:
            return self.band.stops(trial.number, trial.bracket, [objective.cost(value) for value in values])
        if not self.plan.early or not values:
            return False
        earlier = [
            self.values[each.number]
            for each in self.trials
            if each.over and each.definition == trial.definition and each.number in self.values
        ]
        return is_below_median(values, earlier, objective)

    def forget(self, trial: Trial) -> None:
        """The last trial has no job."""
        self._running.pop(trial.number, None)
        self.trials.remove(trial)

    def end(self, trial: Trial, at: float) -> None:
        """A trial has ended; its record says how."""
        self._running.pop(trial.number, None)
        self._count(trial, at)

    def _count(self, trial: Trial, at: float) -> None:
        failed = "RetryableError" if trial.retryable else "NonRetryableError"
        self._statuses[failed if trial.status == "Failed" else trial.status] += 1
        succeeded = trial.objective_status == "Succeeded" and trial.value is not None
        self._results += succeeded
        self.progress.add(trial.value if succeeded else None, at)
        if succeeded and (self.best is None or self._cost(trial) < self._cost(self.best)):
            self.best = trial

    def _cost(self, trial: Trial) -> float:
        return self.plan.definitions[trial.definition].objective.cost(trial.value or 0.0)

    def verdict(self, elapsed: float) -> Verdict | None:
        """How the search ends now; None if it goes on. Training jobs that run are then stopped."""
        failure = self._failure(over=False)
        if failure is not None:
            return failure
        reason = next(self._reasons(elapsed), None)
        if reason is not None:
            return Verdict(failed=False, reason=reason)
        if not self._running and (self.exhausted or len(self.trials) >= self.plan.most):
            tried = "" if self.trials else "the parents have tried every combination"
            return self._failure(over=True) or Verdict(failed=False, reason=tried)
        return None

    def _reasons(self, elapsed: float) -> Iterator[str]:
        """Why it ends before all training jobs were made."""
        plan, best = self.plan, self.best
        if plan.runtime is not None and elapsed >= plan.runtime:
            yield "MaxRuntimeInSeconds is over"
        if (
            plan.target is not None
            and best is not None
            and best.value is not None
            and not plan.definitions[0].objective.better(plan.target, best.value)
        ):
            yield f"{best.name} has reached TargetObjectiveMetricValue"
        if plan.idle is not None and self._results and self.progress.idle >= plan.idle:
            yield f"the last {self.progress.idle} training jobs have not improved it"
        if plan.until_converged and self.progress.converged is not None:
            yield "it has converged"

    def _failure(self, *, over: bool) -> Verdict | None:
        """The failure of a search without any result."""
        if self._results or not self._ended:
            return None
        if self._failures == self._ended:
            if self._ended >= facts.ATTEMPTS:
                return Verdict(failed=True, reason=facts.none_succeeded(self._ended))
            return Verdict(failed=True, reason=facts.ALL_FAILED) if over else None
        without = sum(each.status == "Completed" and each.value is None for each in self.trials)
        if without and (over or self._ended >= facts.ATTEMPTS):
            return Verdict(failed=True, reason=facts.no_objective(self._ended))
        return None


def proposer_of(plan: SearchPlan, index: int) -> Proposer:
    """What chooses the points of a definition."""
    definition = plan.definitions[index]
    taken = definition.taken
    if plan.strategy == "Grid":
        return ListedPoints(points=(point for point in grid(definition.ranges) if point not in taken))
    seed = plan.seed + index * _SEED_STEP
    if plan.strategy == "Bayesian":
        from smlocal.sagemaker.tuning.bayesian import Bayesian  # its library is an extra

        return Bayesian(definition=definition, seed=seed)
    return ListedPoints(points=random_points(definition.ranges, seed, taken=taken))


def first_points(plan: SearchPlan, count: int) -> Iterator[Trial]:
    """The first trials, as long as no result matters."""
    search = Search(plan=replace(plan, parallel=plan.most))
    for _ in range(count):
        trial = search.next(str)
        if trial is None:
            return
        yield trial


def size_of(plan: SearchPlan) -> int | None:
    """The number of different points; None if they cannot be counted."""
    sizes = [combinations(each.ranges) for each in plan.definitions]
    return None if None in sizes else sum(size for size in sizes if size is not None)
