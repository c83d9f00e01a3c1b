"""The DescribeTrainingJob response, made from what is stored of a job."""

from collections.abc import Mapping, Sequence
from typing import Any

from smlocal.contract.statuses import JobPhase, JobStatus
from smlocal.contract.training_seconds import training_seconds
from smlocal.platforms.sagemaker.contract.outcome.filled_in import completed
from smlocal.platforms.sagemaker.contract.outcome.phase_messages import MESSAGES
from smlocal.quick_dataclass import dataclass

DEFAULT_MAX_RUNTIME = 86_400

_ECHOED = (
    "HyperParameters",
    "AlgorithmSpecification",
    "RoleArn",
    "InputDataConfig",
    "OutputDataConfig",
    "ResourceConfig",
    "VpcConfig",
)
_ECHOED_LAST = (
    "CheckpointConfig",
    "DebugHookConfig",
    "ExperimentConfig",
    "DebugRuleConfigurations",
    "TensorBoardOutputConfig",
    "ProfilerConfig",
    "ProfilerRuleConfigurations",
    "ProfilingStatus",
    "Environment",
    "RetryStrategy",
    "RemoteDebugConfig",
    "InfraCheckConfig",
    "ServerlessJobConfig",
    "MlflowConfig",
    "ModelPackageConfig",
)
_INSTANCES_THERE = {
    JobPhase.DOWNLOADING,
    JobPhase.TRAINING,
    JobPhase.STOPPING,
    JobPhase.UPLOADING,
}
_SWITCHES = ("EnableNetworkIsolation", "EnableInterContainerTrafficEncryption", "EnableManagedSpotTraining")
_REQUEST_ONLY = ("Tags", "SessionChainingConfig")
"""Members that DescribeTrainingJob does not return; they are shown in addition."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TransitionFacts:
    """One element of the status history."""

    status: str
    started: float
    ended: float | None
    message: str
    """A `PhaseMessage`, or a sentence that an earlier version stored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobFacts:
    """What is stored of a job."""

    name: str
    arn: str
    status: JobStatus
    phase: JobPhase
    created: float
    modified: float
    started: float | None
    """The start of `Downloading`."""
    ended: float | None
    """The time of the terminal status; for a failed job, when the failure was noticed."""
    failure_reason: str | None
    transitions: Sequence[TransitionFacts]
    model_uri: str
    rules: Sequence[Mapping[str, Any]] | None = None
    """What is stored of the debugger rules; None before they begin."""
    final_metrics: Sequence[Mapping[str, Any]] = ()
    """FinalMetricDataList; left out if empty."""


def describe(request: Mapping[str, Any], job: JobFacts) -> dict[str, Any]:
    """The service's response, with members in its order. Times are seconds since the epoch, with milliseconds."""
    times = _times(job)
    answer: dict[str, Any] = {
        "TrainingJobName": job.name,
        "TrainingJobArn": job.arn,
        "ModelArtifacts": {"S3ModelArtifacts": job.model_uri},
        "TrainingJobStatus": job.status,
        "SecondaryStatus": job.phase,
    }
    if job.failure_reason is not None:
        answer["FailureReason"] = job.failure_reason
    answer.update(completed(_given(request, _ECHOED), _ECHOED))
    answer["StoppingCondition"] = {"MaxRuntimeInSeconds": DEFAULT_MAX_RUNTIME} | dict(
        request.get("StoppingCondition") or {}
    )
    answer["CreationTime"] = job.created
    answer.update({name: times[name] for name in ("TrainingStartTime", "TrainingEndTime") if name in times})
    answer["LastModifiedTime"] = job.modified
    if job.started is not None and job.ended is not None:
        times["BillableTimeInSeconds"] = _billable(job, times["TrainingTimeInSeconds"])
    answer["SecondaryStatusTransitions"] = [_transition(transition) for transition in job.transitions]
    if job.final_metrics:
        answer["FinalMetricDataList"] = list(job.final_metrics)
    answer.update({name: bool(request.get(name, False)) for name in _SWITCHES})
    answer.update(completed(_given(request, _ECHOED_LAST), _ECHOED_LAST))
    if request.get("DebugRuleConfigurations"):
        from smlocal.platforms.sagemaker.contract.outcome.rule_statuses import shown_statuses  # few jobs have rules

        over = job.modified if job.status.terminal else None
        answer["DebugRuleEvaluationStatuses"] = shown_statuses(
            job.rules, request, arn=job.arn, created=job.created, over=over
        )
    answer.update({n: times[n] for n in ("TrainingTimeInSeconds", "BillableTimeInSeconds") if n in times})
    return answer


def request_only(request: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a request that the response does not contain."""
    return _given(request, _REQUEST_ONLY)


def _given(request: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: request[name] for name in names if request.get(name) is not None}


def _transition(transition: TransitionFacts) -> dict[str, Any]:
    answer: dict[str, Any] = {"Status": transition.status, "StartTime": transition.started}
    if transition.ended is not None:
        answer["EndTime"] = transition.ended
    answer["StatusMessage"] = MESSAGES.get(transition.message, transition.message)
    return answer


def _times(job: JobFacts) -> dict[str, float | int]:
    if job.started is None:
        return {}
    if job.ended is None:
        return {"TrainingStartTime": job.started}
    return {
        "TrainingStartTime": job.started,
        "TrainingEndTime": job.ended,
        "TrainingTimeInSeconds": training_seconds(job.started, job.ended),
    }


def _billable(job: JobFacts, trained: float) -> int:
    """The training time; after a spot interruption only the time with instances, and always less."""
    if not any(t.status == JobPhase.INTERRUPTED for t in job.transitions):
        return int(trained)
    there = sum((t.ended or t.started) - t.started for t in job.transitions if t.status in _INSTANCES_THERE)
    return max(1, min(int(there), int(trained) - 1))
