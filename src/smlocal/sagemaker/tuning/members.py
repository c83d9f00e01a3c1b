"""How each member of CreateHyperParameterTuningJob is handled."""

from collections.abc import Iterator
from typing import Final

from smlocal.sagemaker.contract.coverage.members import TABLE as TRAINING
from smlocal.terms.member_table import MemberTable, Row, Support, Value, emulated, recorded, refused

_OURS: Final = Value(support=Support.EMULATED, note="By a library of this machine: the service's search is not public.")
_SHARED: Final = (
    "AlgorithmSpecification.TrainingImage",
    "AlgorithmSpecification.TrainingInputMode",
    "AlgorithmSpecification.AlgorithmName",
    "AlgorithmSpecification.MetricDefinitions",
    "RoleArn",
    "InputDataConfig",
    "OutputDataConfig",
    "ResourceConfig",
    "VpcConfig",
    "StoppingCondition",
    "EnableNetworkIsolation",
    "EnableInterContainerTrafficEncryption",
    "EnableManagedSpotTraining",
    "CheckpointConfig",
    "RetryStrategy",
    "Environment",
)
"""Members of a definition that are those of CreateTrainingJob."""
_AUTO: Final = refused("The service chooses these ranges; write them as ranges of their type.")


def _ranges(name: str) -> Iterator[tuple[str, Row]]:
    for kind in ("IntegerParameterRanges", "ContinuousParameterRanges"):
        yield f"{name}.{kind}[].Name", emulated("The hyperparameter.")
        yield f"{name}.{kind}[].MinValue", emulated("The least value.")
        yield f"{name}.{kind}[].MaxValue", emulated("The greatest value.")
        yield f"{name}.{kind}[].ScalingType", emulated("Auto is logarithmic for wide positive ranges, else linear.")
    yield f"{name}.CategoricalParameterRanges[].Name", emulated("The hyperparameter.")
    yield f"{name}.CategoricalParameterRanges[].Values[]", emulated("Used as they are written.")
    yield f"{name}.AutoParameters", _AUTO


def _definition(name: str) -> Iterator[tuple[str, Row]]:
    yield f"{name}.DefinitionName", emulated("Kept, and shown with each training job.")
    yield f"{name}.TuningObjective.Type", emulated("Whether a higher or a lower value is better.")
    yield f"{name}.TuningObjective.MetricName", emulated("The metric that is compared.")
    yield from _ranges(f"{name}.HyperParameterRanges")
    yield f"{name}.StaticHyperParameters", emulated("Hyperparameters of every training job.")
    for member, row in TRAINING.items():
        if any(member == each or member.startswith((f"{each}.", f"{each}[")) for each in _SHARED):
            yield f"{name}.{member}", row
    tuned = f"{name}.HyperParameterTuningResourceConfig"
    yield f"{tuned}.InstanceType", emulated("As ResourceConfig.InstanceType.")
    yield f"{tuned}.InstanceCount", emulated("As ResourceConfig.InstanceCount.")
    yield f"{tuned}.VolumeSizeInGB", emulated("As ResourceConfig.VolumeSizeInGB.")
    yield f"{tuned}.VolumeKmsKeyId", recorded("Nothing is encrypted here.")
    yield f"{tuned}.AllocationStrategy", recorded("The first instance type is always there.")
    yield f"{tuned}.InstanceConfigs[]", emulated("The first is used.")


_CONFIG: Final = "HyperParameterTuningJobConfig"

TABLE: Final[dict[str, Row]] = {
    "HyperParameterTuningJobName": emulated("Names the tuning job. Default: the file name and the time."),
    f"{_CONFIG}.Strategy": emulated("How hyperparameters are chosen.", {"Bayesian": _OURS}),
    f"{_CONFIG}.StrategyConfig.HyperbandStrategyConfig.MinResource": emulated("Values before a job may be stopped."),
    f"{_CONFIG}.StrategyConfig.HyperbandStrategyConfig.MaxResource": emulated("Values after which a job is stopped."),
    f"{_CONFIG}.HyperParameterTuningJobObjective.Type": emulated("Whether a higher or a lower value is better."),
    f"{_CONFIG}.HyperParameterTuningJobObjective.MetricName": emulated("The metric that is compared."),
    f"{_CONFIG}.ResourceLimits.MaxNumberOfTrainingJobs": emulated("The number of training jobs."),
    f"{_CONFIG}.ResourceLimits.MaxParallelTrainingJobs": emulated("How many run at once."),
    f"{_CONFIG}.ResourceLimits.MaxRuntimeInSeconds": emulated("Ends the search."),
    **dict(_ranges(f"{_CONFIG}.ParameterRanges")),
    f"{_CONFIG}.TrainingJobEarlyStoppingType": emulated("Auto: by the median of running averages."),
    f"{_CONFIG}.TuningJobCompletionCriteria.TargetObjectiveMetricValue": emulated("Ends the search."),
    f"{_CONFIG}.TuningJobCompletionCriteria.BestObjectiveNotImproving.MaxNumberOfTrainingJobsNotImproving": emulated(
        "Ends the search. An improvement is more than 1 %."
    ),
    f"{_CONFIG}.TuningJobCompletionCriteria.ConvergenceDetected.CompleteOnConvergence": emulated(
        "Ends the search by a rule of smlocal's own: the service's is not public."
    ),
    f"{_CONFIG}.RandomSeed": emulated("The same request gives the same points. Default: from the name."),
    **dict(_definition("TrainingJobDefinition")),
    **dict(_definition("TrainingJobDefinitions[]")),
    "WarmStartConfig.ParentHyperParameterTuningJobs[].HyperParameterTuningJobName": emulated(
        "A tuning job of this machine."
    ),
    "WarmStartConfig.WarmStartType": emulated("Points of parents are not tried again; Bayesian learns from them."),
    "Tags": recorded("Kept, and given to each training job."),
    "Autotune": refused("The service chooses ranges and strategy by rules that are not public."),
}
MEMBERS: Final = MemberTable(rows=TABLE)
