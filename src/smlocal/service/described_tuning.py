"""Tuning jobs of the service, as `described_request` reads them, and what the service adds to their definitions."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from smlocal.sagemaker import kinds
from smlocal.sagemaker.contract.metric_definitions import OBJECTIVE_KEY
from smlocal.sagemaker.contract.model.tuning import CreateHyperParameterTuningJobRequest
from smlocal.service.described_request import DescribedKind, DescribedRequest
from smlocal.terms.made_names import without_tuning_time

_TUNED_RESOURCES: Final = "HyperParameterTuningResourceConfig"


def _remove_additions(taken: dict[str, Any]) -> None:
    """Take away what the service adds to each definition."""
    config = taken.get("HyperParameterTuningJobConfig")
    common = config.get("HyperParameterTuningJobObjective") if isinstance(config, Mapping) else None
    one, several = taken.get("TrainingJobDefinition"), taken.get("TrainingJobDefinitions")
    if isinstance(one, Mapping):
        taken["TrainingJobDefinition"] = _as_requested(one, common)
    if isinstance(several, list):
        taken["TrainingJobDefinitions"] = [
            _as_requested(each, common) if isinstance(each, Mapping) else each for each in several
        ]


def _as_requested(definition: Mapping[str, Any], common: Any) -> dict[str, Any]:
    """Without the name of the objective metric, unless a client has written it in another form."""
    found = dict(definition)
    statics, objective = found.get("StaticHyperParameters"), found.get("TuningObjective") or common
    metric = objective.get("MetricName") if isinstance(objective, Mapping) else None
    if isinstance(statics, Mapping) and metric is not None and statics.get(OBJECTIVE_KEY) == metric:
        found["StaticHyperParameters"] = {name: each for name, each in statics.items() if name != OBJECTIVE_KEY}
        if not found["StaticHyperParameters"]:
            del found["StaticHyperParameters"]
    if found.get(_TUNED_RESOURCES):
        found.pop("ResourceConfig", None)
    return found


def _new_name(name: str, now: datetime) -> str:
    return kinds.request_reading(kinds.TUNING).new_name(without_tuning_time(name), now)


TUNING: Final = DescribedKind(
    words="tuning job",
    prefix="HyperParameterTuningJob",
    resource="hyper-parameter-tuning-job",
    shape=CreateHyperParameterTuningJobRequest,
    sign="HyperParameterTuningJobConfig",
    answer_only=frozenset(
        {
            "HyperParameterTuningJobStatus",
            "CreationTime",
            "HyperParameterTuningEndTime",
            "LastModifiedTime",
            "TrainingJobStatusCounters",
            "ObjectiveStatusCounters",
            "BestTrainingJob",
            "OverallBestTrainingJob",
            "FailureReason",
            "TuningJobCompletionDetails",
            "ConsumedResources",
            "ResponseMetadata",
        }
    ),
    new_name=_new_name,
    remove_additions=_remove_additions,
)


def remarks(job: DescribedRequest) -> Iterator[str]:
    """Sentences about what a run here would need."""
    parents = (job.request.get("WarmStartConfig") or {}).get("ParentHyperParameterTuningJobs") or ()
    names = [str(each.get(TUNING.name)) for each in parents if isinstance(each, Mapping)]
    if names:
        yield f"it starts from tuning jobs that have to be on this machine: {', '.join(names)} (WarmStartConfig)"
