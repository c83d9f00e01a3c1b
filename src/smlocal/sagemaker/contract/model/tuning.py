"""The CreateHyperParameterTuningJob request.

Written by scripts/generate-models from botocore 1.44.8; do not edit.
"""

from typing import Annotated, Literal

from smlocal.sagemaker.contract.model import request, shapes
from smlocal.terms.model.structure import Items, Structure, Text, Whole

# ruff: noqa: D101 - each is the service's structure of that name

_HyperParameterTuningJobName = Annotated[str, Text(minimum=1, maximum=32, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,31}")]
_HyperParameterTuningJobStrategyType = Literal["Bayesian", "Random", "Hyperband", "Grid"]
_HyperbandStrategyMinResource = Annotated[int, Whole(minimum=1)]
_HyperbandStrategyMaxResource = Annotated[int, Whole(minimum=1)]
_HyperParameterTuningJobObjectiveType = Literal["Maximize", "Minimize"]
_MaxNumberOfTrainingJobs = Annotated[int, Whole(minimum=1)]
_MaxParallelTrainingJobs = Annotated[int, Whole(minimum=1)]
_HyperParameterTuningMaxRuntimeInSeconds = Annotated[int, Whole(minimum=120, maximum=15768000)]
_ParameterKey = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
_ParameterValue = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
_HyperParameterScalingType = Literal["Auto", "Linear", "Logarithmic", "ReverseLogarithmic"]
_ParameterValues = Annotated[list[_ParameterValue], Items(minimum=1, maximum=30)]
_TrainingJobEarlyStoppingType = Literal["Off", "Auto"]
_TargetObjectiveMetricValue = float
_MaxNumberOfTrainingJobsNotImproving = Annotated[int, Whole(minimum=3)]
_CompleteOnConvergence = Literal["Disabled", "Enabled"]
_RandomSeed = Annotated[int, Whole(minimum=0)]
_HyperParameterTrainingJobDefinitionName = Annotated[
    str, Text(minimum=1, maximum=64, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,63}")
]
_HyperParameterTuningAllocationStrategy = Literal["Prioritized"]
_VolumeSizeInGB = Annotated[int, Whole(minimum=1)]
_HyperParameterTrainingJobEnvironmentKey = Annotated[
    str, Text(minimum=0, maximum=512, pattern="[a-zA-Z_][a-zA-Z0-9_]*")
]
_HyperParameterTrainingJobEnvironmentValue = Annotated[str, Text(minimum=0, maximum=512, pattern="[\\S\\s]*")]
_HyperParameterTrainingJobEnvironmentMap = Annotated[
    dict[_HyperParameterTrainingJobEnvironmentKey, _HyperParameterTrainingJobEnvironmentValue],
    Items(minimum=0, maximum=48),
]
_HyperParameterTuningJobWarmStartType = Literal["IdenticalDataAndAlgorithm", "TransferLearning"]
_AutotuneMode = Literal["Enabled"]


class HyperbandStrategyConfig(Structure):
    MinResource: _HyperbandStrategyMinResource | None = None
    MaxResource: _HyperbandStrategyMaxResource | None = None


_HyperbandStrategyConfig = HyperbandStrategyConfig


class HyperParameterTuningJobStrategyConfig(Structure):
    HyperbandStrategyConfig: _HyperbandStrategyConfig | None = None


_HyperParameterTuningJobStrategyConfig = HyperParameterTuningJobStrategyConfig


class HyperParameterTuningJobObjective(Structure):
    Type: _HyperParameterTuningJobObjectiveType
    MetricName: shapes.MetricName


_HyperParameterTuningJobObjective = HyperParameterTuningJobObjective


class ResourceLimits(Structure):
    MaxNumberOfTrainingJobs: _MaxNumberOfTrainingJobs | None = None
    MaxParallelTrainingJobs: _MaxParallelTrainingJobs
    MaxRuntimeInSeconds: _HyperParameterTuningMaxRuntimeInSeconds | None = None


_ResourceLimits = ResourceLimits


class IntegerParameterRange(Structure):
    Name: _ParameterKey
    MinValue: _ParameterValue
    MaxValue: _ParameterValue
    ScalingType: _HyperParameterScalingType | None = None


_IntegerParameterRange = IntegerParameterRange


class ContinuousParameterRange(Structure):
    Name: _ParameterKey
    MinValue: _ParameterValue
    MaxValue: _ParameterValue
    ScalingType: _HyperParameterScalingType | None = None


_ContinuousParameterRange = ContinuousParameterRange


class CategoricalParameterRange(Structure):
    Name: _ParameterKey
    Values: _ParameterValues


_CategoricalParameterRange = CategoricalParameterRange


class AutoParameter(Structure):
    Name: _ParameterKey
    ValueHint: _ParameterValue


_AutoParameter = AutoParameter


class ParameterRanges(Structure):
    IntegerParameterRanges: Annotated[list[_IntegerParameterRange], Items(minimum=0, maximum=30)] | None = None
    ContinuousParameterRanges: Annotated[list[_ContinuousParameterRange], Items(minimum=0, maximum=30)] | None = None
    CategoricalParameterRanges: Annotated[list[_CategoricalParameterRange], Items(minimum=0, maximum=30)] | None = None
    AutoParameters: Annotated[list[_AutoParameter], Items(minimum=0, maximum=100)] | None = None


_ParameterRanges = ParameterRanges


class BestObjectiveNotImproving(Structure):
    MaxNumberOfTrainingJobsNotImproving: _MaxNumberOfTrainingJobsNotImproving | None = None


_BestObjectiveNotImproving = BestObjectiveNotImproving


class ConvergenceDetected(Structure):
    CompleteOnConvergence: _CompleteOnConvergence | None = None


_ConvergenceDetected = ConvergenceDetected


class TuningJobCompletionCriteria(Structure):
    TargetObjectiveMetricValue: _TargetObjectiveMetricValue | None = None
    BestObjectiveNotImproving: _BestObjectiveNotImproving | None = None
    ConvergenceDetected: _ConvergenceDetected | None = None


_TuningJobCompletionCriteria = TuningJobCompletionCriteria


class HyperParameterTuningJobConfig(Structure):
    Strategy: _HyperParameterTuningJobStrategyType
    StrategyConfig: _HyperParameterTuningJobStrategyConfig | None = None
    HyperParameterTuningJobObjective: _HyperParameterTuningJobObjective | None = None
    ResourceLimits: _ResourceLimits
    ParameterRanges: _ParameterRanges | None = None
    TrainingJobEarlyStoppingType: _TrainingJobEarlyStoppingType | None = None
    TuningJobCompletionCriteria: _TuningJobCompletionCriteria | None = None
    RandomSeed: _RandomSeed | None = None


_HyperParameterTuningJobConfig = HyperParameterTuningJobConfig


class HyperParameterAlgorithmSpecification(Structure):
    TrainingImage: shapes.AlgorithmImage | None = None
    TrainingInputMode: shapes.TrainingInputMode
    AlgorithmName: shapes.ArnOrName | None = None
    MetricDefinitions: Annotated[list[request.MetricDefinition], Items(minimum=0, maximum=40)] | None = None


_HyperParameterAlgorithmSpecification = HyperParameterAlgorithmSpecification


class HyperParameterTuningInstanceConfig(Structure):
    InstanceType: shapes.TrainingInstanceType
    InstanceCount: shapes.TrainingInstanceCount
    VolumeSizeInGB: _VolumeSizeInGB


_HyperParameterTuningInstanceConfig = HyperParameterTuningInstanceConfig


class HyperParameterTuningResourceConfig(Structure):
    InstanceType: shapes.TrainingInstanceType | None = None
    InstanceCount: shapes.TrainingInstanceCount | None = None
    VolumeSizeInGB: shapes.OptionalVolumeSizeInGB | None = None
    VolumeKmsKeyId: shapes.KmsKeyId | None = None
    AllocationStrategy: _HyperParameterTuningAllocationStrategy | None = None
    InstanceConfigs: Annotated[list[_HyperParameterTuningInstanceConfig], Items(minimum=1, maximum=6)] | None = None


_HyperParameterTuningResourceConfig = HyperParameterTuningResourceConfig


class HyperParameterTrainingJobDefinition(Structure):
    DefinitionName: _HyperParameterTrainingJobDefinitionName | None = None
    TuningObjective: _HyperParameterTuningJobObjective | None = None
    HyperParameterRanges: _ParameterRanges | None = None
    StaticHyperParameters: shapes.HyperParameters | None = None
    AlgorithmSpecification: _HyperParameterAlgorithmSpecification
    RoleArn: shapes.RoleArn | None = None
    InputDataConfig: Annotated[list[request.Channel], Items(minimum=1, maximum=20)] | None = None
    VpcConfig: request.VpcConfig | None = None
    OutputDataConfig: request.OutputDataConfig
    ResourceConfig: request.ResourceConfig | None = None
    HyperParameterTuningResourceConfig: _HyperParameterTuningResourceConfig | None = None
    StoppingCondition: request.StoppingCondition
    EnableNetworkIsolation: shapes.Boolean | None = None
    EnableInterContainerTrafficEncryption: shapes.Boolean | None = None
    EnableManagedSpotTraining: shapes.Boolean | None = None
    CheckpointConfig: request.CheckpointConfig | None = None
    RetryStrategy: request.RetryStrategy | None = None
    Environment: _HyperParameterTrainingJobEnvironmentMap | None = None


_HyperParameterTrainingJobDefinition = HyperParameterTrainingJobDefinition


class ParentHyperParameterTuningJob(Structure):
    HyperParameterTuningJobName: _HyperParameterTuningJobName | None = None


_ParentHyperParameterTuningJob = ParentHyperParameterTuningJob


class HyperParameterTuningJobWarmStartConfig(Structure):
    ParentHyperParameterTuningJobs: Annotated[list[_ParentHyperParameterTuningJob], Items(minimum=1, maximum=5)]
    WarmStartType: _HyperParameterTuningJobWarmStartType


_HyperParameterTuningJobWarmStartConfig = HyperParameterTuningJobWarmStartConfig


class Autotune(Structure):
    Mode: _AutotuneMode


_Autotune = Autotune


class CreateHyperParameterTuningJobRequest(Structure):
    HyperParameterTuningJobName: _HyperParameterTuningJobName | None = None
    HyperParameterTuningJobConfig: _HyperParameterTuningJobConfig
    TrainingJobDefinition: _HyperParameterTrainingJobDefinition | None = None
    TrainingJobDefinitions: (
        Annotated[list[_HyperParameterTrainingJobDefinition], Items(minimum=1, maximum=10)] | None
    ) = None
    WarmStartConfig: _HyperParameterTuningJobWarmStartConfig | None = None
    Tags: Annotated[list[request.Tag], Items(minimum=0, maximum=50)] | None = None
    Autotune: _Autotune | None = None


_CreateHyperParameterTuningJobRequest = CreateHyperParameterTuningJobRequest
