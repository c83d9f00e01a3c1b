"""The types of steps: what each makes, what its answer is made of, which members are keys of the cache. Only data."""

from collections.abc import Mapping
from typing import Final

from smlocal.base.quick_dataclass import dataclass

MOST_BYTES: Final = 1 << 20
"""Of a definition."""
MOST_STEPS: Final = 5_000
"""Here. The service has a quota, which an account can have raised."""
MOST_LEVELS: Final = 250
"""Of a document. A nested condition has four."""
MOST_NESTED: Final = 50
"""Conditions in each other."""
MOST_PARALLEL: Final = 50
"""Steps of one execution at once."""
MOST_ITEMS: Final = 100
"""Of a ForEach."""
MOST_PARAMETERS: Final = 200
MOST_OUTPUTS: Final = 50
"""Of a Lambda or a Callback."""
PARAMETER_TYPES: Final = ("String", "Integer", "Boolean", "Float")
COMPLETED: Final = "Completed"
"""The trigger of an ordinary dependency, which clients leave out."""
TRIGGERS: Final = ("Failed", "Stopped", "Any")
EXECUTION_VARIABLES: Final = (
    *("PipelineName", "PipelineArn", "PipelineExecutionId", "PipelineExecutionArn"),
    *("StartDateTime", "CurrentDateTime"),
)
JOB_VARIABLES: Final = {"Training": "TrainingJobName", "Processing": "ProcessingJobName"}
"""Execution variables that only steps of these types know: the name of their own job."""
ADDRESSES: Final = ("FunctionArn", "SqsQueueUrl")
"""Members beside the arguments that may be expressions."""
EXPERIMENT: Final = ("ExperimentName", "TrialName")
"""The members of PipelineExperimentConfig."""

_OF_ALL: Final = ("Name", "Type", "Arguments", "DependsOn", "DisplayName", "Description")
_OF_JOBS: Final = (*_OF_ALL, "CacheConfig", "RetryPolicies")


@dataclass(frozen=True, kw_only=True, slots=True)
class StepType:
    """One type."""

    name: str
    """As definitions have it."""
    metadata: str
    """Its member in the metadata of a step."""
    members: tuple[str, ...] = _OF_JOBS
    """What such a step may have."""
    operation: str = ""
    """The operation that its arguments are a request of."""
    named: str = ""
    """The member of that request with the name, which a definition leaves out."""
    answers: tuple[str, ...] = ()
    """The structures of the service whose members it has when it has ended, together."""
    own: tuple[str, ...] = ()
    """Members that it has besides."""
    keys: tuple[str, ...] = ()
    """The members of its arguments that a cache hit needs to be the same; none: it is never cached."""
    needs_stand_in: bool = False
    """True if this machine has nothing that does it."""


def _job(name: str, stem: str, metadata: str, keys: tuple[str, ...], *more: str) -> StepType:
    return StepType(
        name=name,
        metadata=metadata,
        operation=f"Create{stem}",
        named=f"{stem}Name",
        answers=(f"Describe{stem}Response", *more),
        keys=keys,
        members=(*_OF_JOBS, "PropertyFiles") if name == "Processing" else _OF_JOBS,
    )


def _resource(name: str, stem: str, named: str) -> StepType:
    return StepType(
        name=name, metadata=name, operation=f"Create{stem}", named=named, answers=(f"Describe{stem}Output",)
    )


def _elsewhere(name: str, metadata: str = "") -> StepType:
    """What only the service does. Such a step may have members that are not known here."""
    return StepType(name=name, metadata=metadata or name, members=(), needs_stand_in=True)


_TUNED: Final = tuple(
    f"TrainingJobDefinition.{member}"
    for member in (
        *("AlgorithmSpecification", "HyperParameterRanges", "InputDataConfig"),
        *("StaticHyperParameters", "TuningObjective"),
    )
)
_TRAINED: Final = (
    *("AlgorithmSpecification", "CheckpointConfig", "DebugHookConfig", "DebugRuleConfigurations"),
    *("Environment", "HyperParameters", "InputDataConfig"),
)
_TRIALS: Final = "ListTrainingJobsForHyperParameterTuningJobResponse"
_ROWS: Final = (
    _job("Training", "TrainingJob", "TrainingJob", _TRAINED),
    _job("Processing", "ProcessingJob", "ProcessingJob", ("AppSpecification", "Environment", "ProcessingInputs")),
    _job(
        *("Transform", "TransformJob", "TransformJob"), ("DataProcessing", "Environment", "ModelName", "TransformInput")
    ),
    _job(
        *("Tuning", "HyperParameterTuningJob", "TuningJob"),
        ("HyperParameterTuningJobConfig", *_TUNED, "TrainingJobDefinitions"),
        _TRIALS,
    ),
    _resource("Model", "Model", "ModelName"),
    StepType(
        name="RegisterModel",
        metadata="RegisterModel",
        operation="CreateModelPackage",
        named="ModelPackageName",
        answers=("DescribeModelPackageOutput",),
    ),
    _resource("EndpointConfig", "EndpointConfig", "EndpointConfigName"),
    _resource("Endpoint", "Endpoint", "EndpointName"),
    StepType(name="Condition", metadata="Condition", members=_OF_ALL, own=("Outcome",)),
    StepType(name="Fail", metadata="Fail", members=_OF_ALL, own=("ErrorMessage",)),
    StepType(
        name="Lambda",
        metadata="Lambda",
        members=(*_OF_ALL, "CacheConfig", "FunctionArn", "OutputParameters"),
        own=("OutputParameters",),
        needs_stand_in=True,
    ),
    StepType(
        name="Callback",
        metadata="Callback",
        members=(*_OF_ALL, "CacheConfig", "SqsQueueUrl", "OutputParameters"),
        own=("OutputParameters",),
    ),
    StepType(
        name="ForEach",
        metadata="ForEach",
        members=_OF_ALL,
        own=(
            *("Status", "InputItemCount", "TotalStepCount", "SucceededStepCount", "FailedStepCount"),
            *("StoppedStepCount", "IterationOutputs", "Selected"),
        ),
    ),
    StepType(name="Cleanup", metadata="Cleanup", members=_OF_ALL, own=("CleanedSteps", "FailedSteps", "SkippedSteps")),
    _elsewhere("AutoML", "AutoMLJob"),
    *map(_elsewhere, ("QualityCheck", "ClarifyCheck", "EMR", "EMRServerless", "Athena", "Job", "HubContent")),
    *map(_elsewhere, ("InferenceComponent", "Lineage", "BedrockCustomModel", "BedrockCustomModelDeployment")),
    *map(_elsewhere, ("BedrockModelImport", "BedrockProvisionedModelThroughput")),
)
STEP_TYPES: Final[Mapping[str, StepType]] = {row.name: row for row in _ROWS}
