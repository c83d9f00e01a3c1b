"""The CreateHyperParameterTuningJob request.

Written by scripts/generate-models from botocore 1.44.5; do not edit.
"""

from typing import Annotated

from smlocal.jobs.contract.model.structure import Items, Structure
from smlocal.sagemaker.contract.model import request, shapes, tuning_shapes

# ruff: noqa: D101 - each is the service's structure of that name


class HyperbandStrategyConfig(Structure):
    MinResource: tuning_shapes.HyperbandStrategyMinResource | None = None
    MaxResource: tuning_shapes.HyperbandStrategyMaxResource | None = None


_HyperbandStrategyConfig = HyperbandStrategyConfig


class HyperParameterTuningJobStrategyConfig(Structure):
    HyperbandStrategyConfig: _HyperbandStrategyConfig | None = None


_HyperParameterTuningJobStrategyConfig = HyperParameterTuningJobStrategyConfig


class HyperParameterTuningJobObjective(Structure):
    Type: tuning_shapes.HyperParameterTuningJobObjectiveType
    MetricName: shapes.MetricName


_HyperParameterTuningJobObjective = HyperParameterTuningJobObjective


class ResourceLimits(Structure):
    MaxNumberOfTrainingJobs: tuning_shapes.MaxNumberOfTrainingJobs | None = None
    MaxParallelTrainingJobs: tuning_shapes.MaxParallelTrainingJobs
    MaxRuntimeInSeconds: tuning_shapes.HyperParameterTuningMaxRuntimeInSeconds | None = None


_ResourceLimits = ResourceLimits


class IntegerParameterRange(Structure):
    Name: tuning_shapes.ParameterKey
    MinValue: tuning_shapes.ParameterValue
    MaxValue: tuning_shapes.ParameterValue
    ScalingType: tuning_shapes.HyperParameterScalingType | None = None


_IntegerParameterRange = IntegerParameterRange


class ContinuousParameterRange(Structure):
    Name: tuning_shapes.ParameterKey
    MinValue: tuning_shapes.ParameterValue
    MaxValue: tuning_shapes.ParameterValue
    ScalingType: tuning_shapes.HyperParameterScalingType | None = None


_ContinuousParameterRange = ContinuousParameterRange


class CategoricalParameterRange(Structure):
    Name: tuning_shapes.ParameterKey
    Values: tuning_shapes.ParameterValues


_CategoricalParameterRange = CategoricalParameterRange


class AutoParameter(Structure):
    Name: tuning_shapes.ParameterKey
    ValueHint: tuning_shapes.ParameterValue


_AutoParameter = AutoParameter


class ParameterRanges(Structure):
    IntegerParameterRanges: Annotated[list[_IntegerParameterRange], Items(minimum=0, maximum=30)] | None = None
    ContinuousParameterRanges: Annotated[list[_ContinuousParameterRange], Items(minimum=0, maximum=30)] | None = None
    CategoricalParameterRanges: Annotated[list[_CategoricalParameterRange], Items(minimum=0, maximum=30)] | None = None
    AutoParameters: Annotated[list[_AutoParameter], Items(minimum=0, maximum=100)] | None = None


_ParameterRanges = ParameterRanges


class BestObjectiveNotImproving(Structure):
    MaxNumberOfTrainingJobsNotImproving: tuning_shapes.MaxNumberOfTrainingJobsNotImproving | None = None


_BestObjectiveNotImproving = BestObjectiveNotImproving


class ConvergenceDetected(Structure):
    CompleteOnConvergence: tuning_shapes.CompleteOnConvergence | None = None


_ConvergenceDetected = ConvergenceDetected


class TuningJobCompletionCriteria(Structure):
    TargetObjectiveMetricValue: tuning_shapes.TargetObjectiveMetricValue | None = None
    BestObjectiveNotImproving: _BestObjectiveNotImproving | None = None
    ConvergenceDetected: _ConvergenceDetected | None = None


_TuningJobCompletionCriteria = TuningJobCompletionCriteria


class HyperParameterTuningJobConfig(Structure):
    Strategy: tuning_shapes.HyperParameterTuningJobStrategyType
    StrategyConfig: _HyperParameterTuningJobStrategyConfig | None = None
    HyperParameterTuningJobObjective: _HyperParameterTuningJobObjective | None = None
    ResourceLimits: _ResourceLimits
    ParameterRanges: _ParameterRanges | None = None
    TrainingJobEarlyStoppingType: tuning_shapes.TrainingJobEarlyStoppingType | None = None
    TuningJobCompletionCriteria: _TuningJobCompletionCriteria | None = None
    RandomSeed: tuning_shapes.RandomSeed | None = None


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
    VolumeSizeInGB: tuning_shapes.VolumeSizeInGB


_HyperParameterTuningInstanceConfig = HyperParameterTuningInstanceConfig


class HyperParameterTuningResourceConfig(Structure):
    InstanceType: shapes.TrainingInstanceType | None = None
    InstanceCount: shapes.TrainingInstanceCount | None = None
    VolumeSizeInGB: shapes.OptionalVolumeSizeInGB | None = None
    VolumeKmsKeyId: shapes.KmsKeyId | None = None
    AllocationStrategy: tuning_shapes.HyperParameterTuningAllocationStrategy | None = None
    InstanceConfigs: Annotated[list[_HyperParameterTuningInstanceConfig], Items(minimum=1, maximum=6)] | None = None


_HyperParameterTuningResourceConfig = HyperParameterTuningResourceConfig


class HyperParameterTrainingJobDefinition(Structure):
    DefinitionName: tuning_shapes.HyperParameterTrainingJobDefinitionName | None = None
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
    Environment: tuning_shapes.HyperParameterTrainingJobEnvironmentMap | None = None


_HyperParameterTrainingJobDefinition = HyperParameterTrainingJobDefinition


class ParentHyperParameterTuningJob(Structure):
    HyperParameterTuningJobName: tuning_shapes.HyperParameterTuningJobName | None = None


_ParentHyperParameterTuningJob = ParentHyperParameterTuningJob


class HyperParameterTuningJobWarmStartConfig(Structure):
    ParentHyperParameterTuningJobs: Annotated[list[_ParentHyperParameterTuningJob], Items(minimum=1, maximum=5)]
    WarmStartType: tuning_shapes.HyperParameterTuningJobWarmStartType


_HyperParameterTuningJobWarmStartConfig = HyperParameterTuningJobWarmStartConfig


class Autotune(Structure):
    Mode: tuning_shapes.AutotuneMode


_Autotune = Autotune


class CreateHyperParameterTuningJobRequest(Structure):
    HyperParameterTuningJobName: tuning_shapes.HyperParameterTuningJobName | None = None
    HyperParameterTuningJobConfig: _HyperParameterTuningJobConfig
    TrainingJobDefinition: _HyperParameterTrainingJobDefinition | None = None
    TrainingJobDefinitions: (
        Annotated[list[_HyperParameterTrainingJobDefinition], Items(minimum=1, maximum=10)] | None
    ) = None
    WarmStartConfig: _HyperParameterTuningJobWarmStartConfig | None = None
    Tags: Annotated[list[request.Tag], Items(minimum=0, maximum=50)] | None = None
    Autotune: _Autotune | None = None


_CreateHyperParameterTuningJobRequest = CreateHyperParameterTuningJobRequest
