"""The DescribeTrainingJob answer.

Written by scripts/generate-models from botocore 1.44.5; do not edit.
"""

from typing import Annotated

from smlocal.jobs.contract.model.structure import Items, Structure
from smlocal.sagemaker.contract.model import answer_shapes, request, shapes

# ruff: noqa: D101 - each is the service's structure of that name


class ModelArtifacts(Structure):
    S3ModelArtifacts: shapes.S3Uri


_ModelArtifacts = ModelArtifacts


class WarmPoolStatus(Structure):
    Status: answer_shapes.WarmPoolResourceStatus
    ResourceRetainedBillableTimeInSeconds: answer_shapes.ResourceRetainedBillableTimeInSeconds | None = None
    ReusedByJob: shapes.TrainingJobName | None = None


_WarmPoolStatus = WarmPoolStatus


class SecondaryStatusTransition(Structure):
    Status: answer_shapes.SecondaryStatus
    StartTime: answer_shapes.Timestamp
    EndTime: answer_shapes.Timestamp | None = None
    StatusMessage: answer_shapes.StatusMessage | None = None


_SecondaryStatusTransition = SecondaryStatusTransition


class MetricData(Structure):
    MetricName: shapes.MetricName | None = None
    Value: answer_shapes.Float | None = None
    Timestamp: answer_shapes.Timestamp | None = None


_MetricData = MetricData


class DebugRuleEvaluationStatus(Structure):
    RuleConfigurationName: shapes.RuleConfigurationName | None = None
    RuleEvaluationJobArn: answer_shapes.ProcessingJobArn | None = None
    RuleEvaluationStatus: answer_shapes.RuleEvaluationStatus | None = None
    StatusDetails: answer_shapes.StatusDetails | None = None
    LastModifiedTime: answer_shapes.Timestamp | None = None


_DebugRuleEvaluationStatus = DebugRuleEvaluationStatus


class ProfilerRuleEvaluationStatus(Structure):
    RuleConfigurationName: shapes.RuleConfigurationName | None = None
    RuleEvaluationJobArn: answer_shapes.ProcessingJobArn | None = None
    RuleEvaluationStatus: answer_shapes.RuleEvaluationStatus | None = None
    StatusDetails: answer_shapes.StatusDetails | None = None
    LastModifiedTime: answer_shapes.Timestamp | None = None


_ProfilerRuleEvaluationStatus = ProfilerRuleEvaluationStatus


class MlflowDetails(Structure):
    MlflowExperimentId: answer_shapes.MlflowExperimentId | None = None
    MlflowRunId: answer_shapes.MlflowRunId | None = None


_MlflowDetails = MlflowDetails


class TrainingProgressInfo(Structure):
    TotalStepCountPerEpoch: answer_shapes.TotalStepCountPerEpoch | None = None
    CurrentStep: answer_shapes.TrainingStepIndex | None = None
    CurrentEpoch: answer_shapes.TrainingEpochIndex | None = None
    MaxEpoch: answer_shapes.TrainingEpochCount | None = None


_TrainingProgressInfo = TrainingProgressInfo


class DescribeTrainingJobResponse(Structure):
    TrainingJobName: shapes.TrainingJobName
    TrainingJobArn: answer_shapes.TrainingJobArn
    TuningJobArn: answer_shapes.HyperParameterTuningJobArn | None = None
    LabelingJobArn: answer_shapes.LabelingJobArn | None = None
    AutoMLJobArn: answer_shapes.AutoMLJobArn | None = None
    ModelArtifacts: _ModelArtifacts
    TrainingJobStatus: answer_shapes.TrainingJobStatus
    SecondaryStatus: answer_shapes.SecondaryStatus
    FailureReason: answer_shapes.FailureReason | None = None
    HyperParameters: shapes.HyperParameters | None = None
    AlgorithmSpecification: request.AlgorithmSpecification | None = None
    RoleArn: shapes.RoleArn | None = None
    InputDataConfig: Annotated[list[request.Channel], Items(minimum=1, maximum=20)] | None = None
    OutputDataConfig: request.OutputDataConfig | None = None
    ResourceConfig: request.ResourceConfig | None = None
    WarmPoolStatus: _WarmPoolStatus | None = None
    VpcConfig: request.VpcConfig | None = None
    StoppingCondition: request.StoppingCondition
    CreationTime: answer_shapes.Timestamp
    TrainingStartTime: answer_shapes.Timestamp | None = None
    TrainingEndTime: answer_shapes.Timestamp | None = None
    LastModifiedTime: answer_shapes.Timestamp | None = None
    SecondaryStatusTransitions: list[_SecondaryStatusTransition] | None = None
    FinalMetricDataList: Annotated[list[_MetricData], Items(minimum=0, maximum=40)] | None = None
    EnableNetworkIsolation: shapes.Boolean | None = None
    EnableInterContainerTrafficEncryption: shapes.Boolean | None = None
    EnableManagedSpotTraining: shapes.Boolean | None = None
    CheckpointConfig: request.CheckpointConfig | None = None
    TrainingTimeInSeconds: answer_shapes.TrainingTimeInSeconds | None = None
    BillableTimeInSeconds: answer_shapes.BillableTimeInSeconds | None = None
    BillableTokenCount: answer_shapes.BillableTokenCount | None = None
    DebugHookConfig: request.DebugHookConfig | None = None
    ExperimentConfig: request.ExperimentConfig | None = None
    DebugRuleConfigurations: Annotated[list[request.DebugRuleConfiguration], Items(minimum=0, maximum=20)] | None = None
    TensorBoardOutputConfig: request.TensorBoardOutputConfig | None = None
    DebugRuleEvaluationStatuses: Annotated[list[_DebugRuleEvaluationStatus], Items(minimum=0, maximum=20)] | None = None
    ProfilerConfig: request.ProfilerConfig | None = None
    ProfilerRuleConfigurations: (
        Annotated[list[request.ProfilerRuleConfiguration], Items(minimum=0, maximum=20)] | None
    ) = None
    ProfilerRuleEvaluationStatuses: (
        Annotated[list[_ProfilerRuleEvaluationStatus], Items(minimum=0, maximum=20)] | None
    ) = None
    ProfilingStatus: answer_shapes.ProfilingStatus | None = None
    Environment: shapes.TrainingEnvironmentMap | None = None
    RetryStrategy: request.RetryStrategy | None = None
    RemoteDebugConfig: request.RemoteDebugConfig | None = None
    InfraCheckConfig: request.InfraCheckConfig | None = None
    ServerlessJobConfig: request.ServerlessJobConfig | None = None
    MlflowConfig: request.MlflowConfig | None = None
    ModelPackageConfig: request.ModelPackageConfig | None = None
    MlflowDetails: _MlflowDetails | None = None
    ProgressInfo: _TrainingProgressInfo | None = None
    OutputModelPackageArn: shapes.ModelPackageArn | None = None


_DescribeTrainingJobResponse = DescribeTrainingJobResponse
