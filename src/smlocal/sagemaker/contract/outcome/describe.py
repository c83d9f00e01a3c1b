"""The DescribeTrainingJob response, made from the records of a job."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.sagemaker.contract.requested import last_message, pool_member
from smlocal.terms.statuses import JobPhase, JobStatus, PhaseMessage, PoolState, training_seconds

if TYPE_CHECKING:
    from smlocal.sagemaker.contract.outcome.reasons import shown_statuses
else:
    shown_statuses = at_use("smlocal.sagemaker.contract.outcome.reasons", "shown_statuses")

DEFAULT_MAX_RUNTIME = 86_400

_ECHOED = (
    "HyperParameters",
    "AlgorithmSpecification",
    "RoleArn",
    "InputDataConfig",
    "OutputDataConfig",
    "ResourceConfig",
    "WarmPoolStatus",
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
    """The records of a job."""

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
    """The records of the debugger rules; None before they begin."""
    final_metrics: Sequence[Mapping[str, Any]] = ()
    """FinalMetricDataList; left out if empty."""
    selected: tuple[str, int] | None = None
    """Instance type and count selected from `InstancePreferences`."""
    tuning_job: str | None = None
    """The ARN of the tuning job that has made it."""
    pool: PoolState | None = None
    """None for a job that never had a warm pool."""


def describe(request: Mapping[str, Any], job: JobFacts) -> dict[str, Any]:
    """The service's response, with members in its order. Times are seconds since the epoch, with milliseconds."""
    times = _times(job)
    answer: dict[str, Any] = {
        "TrainingJobName": job.name,
        "TrainingJobArn": job.arn,
        **({} if job.tuning_job is None else {"TuningJobArn": job.tuning_job}),
        "ModelArtifacts": {"S3ModelArtifacts": job.model_uri},
        "TrainingJobStatus": job.status,
        "SecondaryStatus": job.phase,
    }
    if job.failure_reason is not None:
        answer["FailureReason"] = job.failure_reason
    pool = {} if job.pool is None else {"WarmPoolStatus": pool_member(job.pool)}
    answer.update(completed(_given(request, _ECHOED) | pool, _ECHOED))
    if job.selected is not None:
        kind, count = job.selected
        answer["ResourceConfig"] |= {"SelectedInstanceType": kind, "SelectedInstanceCount": count}
    answer["StoppingCondition"] = {"MaxRuntimeInSeconds": DEFAULT_MAX_RUNTIME} | dict(
        request.get("StoppingCondition") or {}
    )
    answer["CreationTime"] = job.created
    answer.update({name: times[name] for name in ("TrainingStartTime", "TrainingEndTime") if name in times})
    answer["LastModifiedTime"] = job.modified
    if job.started is not None and job.ended is not None:
        times["BillableTimeInSeconds"] = _billable(job, times["TrainingTimeInSeconds"])
    answer["SecondaryStatusTransitions"] = [_transition(transition) for transition in job.transitions]
    if job.pool is not None and (message := last_message(job.status, job.pool)) is not None:
        answer["SecondaryStatusTransitions"][-1]["StatusMessage"] = message
    if job.final_metrics:
        answer["FinalMetricDataList"] = list(job.final_metrics)
    answer.update({name: bool(request.get(name, False)) for name in _SWITCHES})
    answer.update(completed(_given(request, _ECHOED_LAST), _ECHOED_LAST))
    if request.get("DebugRuleConfigurations"):
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


# The defaults of the service where a request is silent, as DescribeTrainingJob shows them.

PROFILING_INTERVAL = 500


def completed(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """These members of an answer in their order, with what the service fills in. `given`: those of the request."""
    found = {name: _FILL[name](given) if name in _FILL else given.get(name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _with(name: str, usual: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Any]:
    """Fills in members of a structure that the request has."""
    return lambda given: None if name not in given else _members(given[name], usual)


def _members(given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: value for name, value in given.items() if value is not None}
    return {**said, **{name: value for name, value in usual.items() if name not in said}}


def _channels(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All channels; an empty list without any."""
    usual = {"CompressionType": "None", "RecordWrapperType": "None"}
    return [_members(channel, usual) for channel in given.get("InputDataConfig") or ()]


def _profiler(given: Mapping[str, Any]) -> Any:
    if not _profiles(given):
        return given.get("ProfilerConfig")
    return _members(given["ProfilerConfig"], {"ProfilingIntervalInMilliseconds": PROFILING_INTERVAL})


def _profiles(given: Mapping[str, Any]) -> bool:
    config = given.get("ProfilerConfig")
    return config is not None and not config.get("DisableProfiler")


_FILL: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "AlgorithmSpecification": _with("AlgorithmSpecification", {"EnableSageMakerMetricsTimeSeries": False}),
    "InputDataConfig": _channels,
    "OutputDataConfig": _with("OutputDataConfig", {"KmsKeyId": "", "CompressionType": "GZIP"}),
    # Clients read the size. The service's value is not known; 0 is our choice.
    "ResourceConfig": _with("ResourceConfig", {"VolumeSizeInGB": 0}),
    "ProfilerConfig": _profiler,
    "ProfilingStatus": lambda given: "Enabled" if _profiles(given) else "Disabled",
}


# The service's message for each phase.

MESSAGES: Mapping[str, str] = {
    PhaseMessage.STARTING: "Starting the training job",
    PhaseMessage.WAITING: "Training job waiting for capacity",
    PhaseMessage.PREPARING: "Preparing the instances for training",
    PhaseMessage.DOWNLOADING_DATA: "Downloading input data",
    PhaseMessage.DOWNLOADING_IMAGE: "Downloading the training image",
    PhaseMessage.TRAINING: "Training image download completed. Training in progress.",
    PhaseMessage.UPLOADING: "Uploading generated training model",
    PhaseMessage.INTERRUPTED: "Training job interrupted",  # our own; the service's is not known
    PhaseMessage.STOPPING: "Stopping the training job",
    PhaseMessage.STOPPED: "Training job stopped",
    PhaseMessage.MAX_RUNTIME_EXCEEDED: "Training job runtime exceeded MaxRuntimeInSeconds provided",
    PhaseMessage.MAX_WAIT_TIME_EXCEEDED: "Training job wait time exceeded MaxWaitTimeInSeconds provided",
    PhaseMessage.COMPLETED: "Training job completed",
    PhaseMessage.FAILED: "Training job failed",
}
