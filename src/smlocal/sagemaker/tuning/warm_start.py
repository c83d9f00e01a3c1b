"""The parents of a warm start: tuning jobs of this machine."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from smlocal.errors import JobUnknownError
from smlocal.errors.of_jobs import WarmStartError
from smlocal.jobs.documents import REQUEST
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.contract.requested import OBJECTIVE_KEY
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.ranges import Range, ranges_of
from smlocal.sagemaker.tuning.state import read_trials
from smlocal.sagemaker.tuning.trials import SearchDefinition
from smlocal.sagemaker.tuning.tuning_file import TuningFile

_MOST_CHANGES: Final = 10
"""Static hyperparameters that may change, as the developer guide states."""

Earlier = list[list[Any]]
"""For each definition: points, each with its result and whether a training job of it would be the same again."""


def earlier_of(file: TuningFile, store: Store) -> list[Earlier]:
    """What the parents have found, for each definition; `WarmStartError` if they cannot be used."""
    found: list[Earlier] = [[] for _ in file.definitions]
    total = 0
    for parent in file.parents:
        request = _request(store, parent)
        given = [request.get("TrainingJobDefinition"), *(request.get("TrainingJobDefinitions") or ())]
        definitions = [each for each in given if each]
        _check(file, parent, request, definitions)
        trials = read_trials(store, parent)
        total += len(trials)
        for trial in trials:
            for index, each in enumerate(file.definitions):
                named = definitions[trial.definition].get("DefinitionName") in {None, each.name}
                names = {tuned.name for tuned in each.search.ranges}
                if named and trial.value is not None and names <= trial.tuned.keys():
                    point = {name: trial.tuned[name] for name in names}
                    theirs = {**(definitions[trial.definition].get("StaticHyperParameters") or {}), **trial.tuned}
                    again = file.same_data and _without_objective(theirs) == _without_objective(
                        {**each.request["HyperParameters"], **point}
                    )
                    found[index].append([point, trial.value, again])
    most = file.plan("").most
    if file.parents and total + most > facts.MOST_PARENTS_JOBS:
        raise WarmStartError(
            f"the parents have made {total} training jobs and this one makes {most}: more than "
            f"{facts.MOST_PARENTS_JOBS} together",
            remedy=["Lower MaxNumberOfTrainingJobs, or name fewer parents."],
        )
    return found


def with_earlier(file: TuningFile, earlier: Sequence[Earlier] | None) -> list[SearchDefinition]:
    """The definitions of a search that knows these results."""
    given = earlier or [[] for _ in file.definitions]
    return [
        SearchDefinition(
            objective=each.search.objective,
            ranges=each.search.ranges,
            earlier=tuple((dict(point), value) for point, value, *_ in results),
            taken=tuple(dict(point) for point, _, *again in results if all(again)),
        )
        for each, results in zip(file.definitions, given, strict=True)
    ]


def _without_objective(given: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in given.items() if name != OBJECTIVE_KEY}


def _request(store: Store, parent: str) -> Mapping[str, Any]:
    try:
        record = store.get(parent)
    except JobUnknownError:
        record = None
    if record is None or record.platform != facts.NAME:
        raise WarmStartError(
            f"there is no tuning job '{parent}' here to start from",
            remedy=["Parents are tuning jobs that were run on this machine: smlocal jobs lists them."],
        )
    if not record.status.terminal:
        raise WarmStartError(
            f"the tuning job '{parent}' has not ended: it is {record.status}", remedy=[f"smlocal wait {parent}"]
        )
    request: Mapping[str, Any] = store.document(parent, REQUEST)
    return request


def _check(file: TuningFile, parent: str, request: Mapping[str, Any], definitions: list[Any]) -> None:
    config = request["HyperParameterTuningJobConfig"]
    for each in file.definitions:
        metric, direction = each.search.objective.metric, each.search.objective.direction
        same = [other for other in definitions if other.get("DefinitionName") in {None, each.name}] or definitions
        for other in same:
            objective = other.get("TuningObjective") or config.get("HyperParameterTuningJobObjective") or {}
            if objective.get("MetricName") != metric:
                raise WarmStartError(
                    f"the objective metric of '{parent}' is {objective.get('MetricName')}, and not {metric}",
                    remedy=["A warm start needs the objective metric of its parents."],
                )
            kind = objective.get("Type", direction)
            if kind != direction:
                raise WarmStartError(
                    f"the objective of '{parent}' is to {kind.lower()} {metric}, and not to {direction.lower()} it",
                    remedy=["A warm start needs the objective of its parents, with the same Type."],
                )
            if file.same_data:
                _check_algorithm(each.request, other, parent)
            ranges = ranges_of(other.get("HyperParameterRanges") or config.get("ParameterRanges"))
            _check_names(each.search.ranges, each.request["HyperParameters"], ranges, other, parent)


def _check_algorithm(request: Mapping[str, Any], other: Mapping[str, Any], parent: str) -> None:
    """The developer guide: the training image is that of the parents."""
    ours, theirs = request.get("AlgorithmSpecification") or {}, other.get("AlgorithmSpecification") or {}
    for name in ("TrainingImage", "AlgorithmName"):
        if ours.get(name) != theirs.get(name):
            raise WarmStartError(
                f"{name} is {ours.get(name) or 'missing'}, and that of '{parent}' is {theirs.get(name) or 'missing'}",
                remedy=["IdenticalDataAndAlgorithm needs the image of the parents; TransferLearning takes another."],
            )


def _check_names(
    ours: Sequence[Range], statics: Mapping[str, str], theirs: Sequence[Range], other: Mapping[str, Any], parent: str
) -> None:
    before = other.get("StaticHyperParameters") or {}
    names = {each.name for each in ours} | (statics.keys() - {OBJECTIVE_KEY})
    if names != {each.name for each in theirs} | (before.keys() - {OBJECTIVE_KEY}):
        raise WarmStartError(facts.OTHER_NAMES, details=[f"The parent is {parent}."])
    kinds = {each.name: each.kind for each in theirs}
    for each in ours:
        if kinds.get(each.name, each.kind) != each.kind:
            raise WarmStartError(
                f"{each.name} is {each.kind.lower()} here and {kinds[each.name].lower()} in '{parent}'",
                remedy=["The type of a hyperparameter must be that of the parent."],
            )
    changes = sum(2 for name, value in statics.items() if before.get(name, value) != value)
    changes += sum(max(1, len(each.values)) for each in theirs if each.name in statics)
    if changes > _MOST_CHANGES:
        raise WarmStartError(
            f"{changes} values of static hyperparameters differ from '{parent}', and at most {_MOST_CHANGES} may",
            remedy=["Keep more of the parent's values."],
        )
