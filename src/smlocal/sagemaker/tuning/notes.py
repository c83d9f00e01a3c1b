"""What a tuning job does otherwise than the service."""

from collections.abc import Iterator, Sequence
from typing import Final

from smlocal.jobs.planning.model import Note
from smlocal.sagemaker.tuning import facts
from smlocal.sagemaker.tuning.stopping import CONVERGED_AFTER
from smlocal.sagemaker.tuning.tuning_file import TuningFile

_STRATEGY: Final = {
    "Grid": "every combination runs once, as on the service; their order is smlocal's",
    "Random": "points are random as on the service, with the same scalings; the numbers are smlocal's own",
    "Hyperband": "Hyperband is the published algorithm, with asynchronous promotion; the service's variant is not "
    "published",
    "Bayesian": "points are chosen by Optuna (TPE); the service's Bayesian search is not published and chooses others",
}
_DIRECTIONS: Final = (
    "some definitions maximize and some minimize: values to maximize count with their signs turned around; how the "
    "service compares them is not published"
)
_OF_A_NAME: Final = frozenset({"relaxed-name"})
"""Notes of training jobs that say nothing about those of a tuning job."""


def notes(of_training: Sequence[Note], file: TuningFile) -> tuple[Note, ...]:
    """Those of the training jobs, and those of the search."""
    found = [note for note in dict.fromkeys(of_training) if note.id not in _OF_A_NAME]
    found += [Note(id=name, text=text) for name, text in _own(file)]
    return tuple(sorted(found, key=lambda note: not note.warning))


def _own(file: TuningFile) -> Iterator[tuple[str, str]]:
    config = file.raw["HyperParameterTuningJobConfig"]
    plan = file.plan("")
    yield "tuning-strategy", _STRATEGY[plan.strategy]
    yield "tuning-parallel", "training jobs that run at once share this machine, so each is slower than alone"
    if "HyperParameterTuningJobName" not in file.raw:
        yield "relaxed-tuning-name", "HyperParameterTuningJobName is missing; the service requires it"
    if any(each.scaling == "Auto" and each.kind != "Categorical" for part in plan.definitions for each in part.ranges):
        yield (
            "tuning-scaling",
            "Auto is logarithmic for wide positive ranges, else linear; the service's choice differs",
        )
    if plan.early:
        yield (
            "tuning-early-stopping",
            "early stopping is by the median rule of the developer guide, from the second job",
        )
    if plan.until_converged:
        converged = f"the search has converged after {CONVERGED_AFTER} training jobs without an improvement of over 1 %"
        yield "tuning-convergence", f"{converged}; the service's rule is not published"
    if len(plan.definitions) > 1:
        yield "tuning-definitions", "training jobs go to the definitions in turn; the service's choice is not published"
        if plan.early:
            yield "tuning-early-definitions", "the developer guide has early stopping for a single algorithm only"
        if len({each.objective.direction for each in plan.definitions}) > 1:
            yield "tuning-directions", _DIRECTIONS
    if plan.most > facts.QUOTA_JOBS:
        yield "tuning-quota", f"{plan.most:,} training jobs are above the service's usual quota of {facts.QUOTA_JOBS}"
    if config.get("RandomSeed") is None and plan.strategy != "Grid":
        yield "tuning-seed", "without RandomSeed the points follow from the name; on the service they differ each time"
