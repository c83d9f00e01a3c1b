"""What is stored of a tuning job, and read by whoever shows it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.sagemaker.tuning.facts import TUNING
from smlocal.sagemaker.tuning.search import Search, Verdict
from smlocal.sagemaker.tuning.trials import Objective, Trial, document_kind, trial_of
from smlocal.terms.statuses import JobStatus

EARLIER: Final = "tuning-earlier"
"""What the parents of a warm start have found."""


def state_document(
    search: Search, names: Sequence[str | None], verdict: Verdict | None, *, overall: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The search in numbers, with the best training job. `names`: of the definitions."""
    best = search.best
    return {
        "Count": len(search.trials),
        "Running": [each.name for each in search.running],
        "TrainingJobStatusCounters": search.status_counters,
        "ObjectiveStatusCounters": search.objective_counters,
        "Best": None if best is None else summary(best, search.objectives[best.definition], names[best.definition]),
        "Overall": overall,
        "NotImproving": search.progress.idle,
        "Converged": search.progress.converged,
        "Verdict": None if verdict is None else {"Failed": verdict.failed, "Reason": verdict.reason},
    }


def verdict_of(document: Mapping[str, Any] | None) -> Verdict | None:
    """How the search ends, if that is decided."""
    found = (document or {}).get("Verdict")
    return None if found is None else Verdict(failed=found["Failed"], reason=found["Reason"])


def read_trials(store: Store, name: str) -> list[Trial]:
    """The trials of a tuning job, as its supervisor has stored them last."""
    count = (store.document(name, TUNING) or {}).get("Count", 0)
    kinds = [document_kind(number) for number in range(1, count + 1)]
    documents = store.read(name, kinds).documents
    return [trial_of(documents[kind]) for kind in kinds if kind in documents]


def summary(trial: Trial, objective: Objective, definition: str | None) -> dict[str, Any]:
    """A HyperParameterTrainingJobSummary."""
    value = trial.value
    known = {
        "TrainingJobDefinitionName": definition,
        "TrainingJobName": trial.name,
        "TrainingJobArn": trial.arn,
        "CreationTime": trial.created,
        "TrainingStartTime": trial.started,
        "TrainingEndTime": trial.ended,
        "TrainingJobStatus": trial.status,
        "TunedHyperParameters": dict(trial.tuned),
        "FailureReason": trial.reason,
        "FinalHyperParameterTuningJobObjectiveMetric": None
        if value is None
        else {"Type": objective.direction, "MetricName": objective.metric, "Value": value},
        "ObjectiveStatus": trial.objective_status,
    }
    return {name: each for name, each in known.items() if each is not None}


def with_record(trial: Trial, record: JobRecord) -> Trial:
    """Take over what the record of the training job says."""
    trial.arn, trial.created, trial.started = record.arn, record.created, record.started
    if record.status.terminal:
        trial.status, trial.reason = str(record.status), record.failure_reason
        trial.ended = record.modified if record.ended is None else record.ended
    elif record.status is JobStatus.STOPPING:
        trial.status = str(record.status)
    return trial


def overall_best(
    search: Search, names: Sequence[str | None], parents: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """OverallBestTrainingJob: of this tuning job and its parents, whose best are given as summaries."""
    best = search.best
    found = [] if best is None else [summary(best, search.objectives[best.definition], names[best.definition])]
    found += [dict(each) for each in parents]
    objective = search.plan.definitions[0].objective
    return min(
        found,
        key=lambda each: objective.cost(each["FinalHyperParameterTuningJobObjectiveMetric"]["Value"]),
        default=None,
    )
