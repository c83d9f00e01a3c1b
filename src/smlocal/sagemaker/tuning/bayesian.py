"""Bayesian search by Optuna, which is installed with `smlocal[tuning]`. The service's own search is not published."""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors.of_jobs import TuningLibraryError
from smlocal.sagemaker.tuning.ranges import Point, Range, random_points, text_of
from smlocal.sagemaker.tuning.trials import SearchDefinition, Trial

_TRIES: Final = 10
"""For a point that was not tried before."""


def load_library() -> Any:
    """Optuna; `TuningLibraryError` if it is not installed."""
    try:
        import optuna
    except ImportError:
        from smlocal.base.installed import install_command

        raise TuningLibraryError(
            "Strategy: Bayesian needs the library Optuna, which is not installed",
            remedy=[f"Install it: {install_command('tuning')}", "Or use Strategy: Random, Hyperband or Grid."],
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


@dataclass(kw_only=True, slots=True)
class Bayesian:
    """Proposes points from the results so far. It keeps no state: the same trials and seed give the same point."""

    definition: SearchDefinition
    seed: int

    def propose(self, trials: Sequence[Trial]) -> Point | None:
        """The point that the library chooses; a random one if it only repeats earlier ones; None without any left."""
        optuna = load_library()
        tried = [*self.definition.taken, *(trial.tuned for trial in trials)]
        for attempt in range(_TRIES):
            point = self._ask(optuna, trials, self.seed + len(trials) + attempt * 1_000_003)
            if point not in tried:
                return point
        return next(random_points(self.definition.ranges, self.seed, taken=tried), None)

    def _ask(self, optuna: Any, trials: Sequence[Trial], seed: int) -> Point:
        ranges = self.definition.ranges
        distributions = {each.name: _distribution(optuna, each) for each in ranges}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about options that are experimental in the library
            sampler = optuna.samplers.TPESampler(seed=seed % 2**32, multivariate=True, constant_liar=True)
            study = optuna.create_study(sampler=sampler)
            study.add_trials(list(self._known(optuna, trials, distributions)))
            asked = study.ask(distributions)
        return {each.name: _text(each, asked.params[each.name]) for each in ranges}

    def _known(self, optuna: Any, trials: Sequence[Trial], distributions: Mapping[str, Any]) -> Iterator[Any]:
        """The results so far; points that are being tried count as bad, so that others are chosen."""
        results: list[tuple[Point, float | None]] = list(self.definition.earlier)
        results += [(trial.tuned, trial.value) for trial in trials if trial.objective_status == "Succeeded"]
        running = [trial.tuned for trial in trials if not trial.over]
        state = optuna.trial.TrialState
        for point, value in [*results, *((point, None) for point in running)]:
            if not all(each.holds(point[each.name]) for each in self.definition.ranges):
                continue  # a parent's, outside of these ranges
            params = {each.name: _value(each, point[each.name]) for each in self.definition.ranges}
            yield optuna.trial.create_trial(
                state=state.RUNNING if value is None else state.COMPLETE,
                value=None if value is None else self.definition.objective.cost(value),
                params=params,
                distributions=distributions,
            )


def _distribution(optuna: Any, given: Range) -> Any:
    log = given.scale == "Logarithmic"
    if given.kind == "Categorical":
        return optuna.distributions.CategoricalDistribution(given.values)
    if given.kind == "Integer":
        return optuna.distributions.IntDistribution(int(given.low), int(given.high), log=log)
    if given.scale == "ReverseLogarithmic":  # the distance from 1 is logarithmic
        return optuna.distributions.FloatDistribution(1 - given.high, 1 - given.low, log=True)
    return optuna.distributions.FloatDistribution(given.low, given.high, log=log)


def _value(given: Range, text: str) -> str | int | float:
    """The value that the library takes for a hyperparameter, from its text."""
    if given.kind == "Categorical":
        return text
    if given.kind == "Integer":
        return int(text)
    number = float(text)
    if given.scale != "ReverseLogarithmic":
        return number
    return min(max(1 - number, 1 - given.high), math.nextafter(1 - given.low, 2))


def _text(given: Range, value: Any) -> str:
    if given.kind != "Continuous":
        return str(value)
    number = float(value)
    return text_of(given.clamped(1 - number if given.scale == "ReverseLogarithmic" else number))
