"""The DescribeTrainingJob answer.

Written by scripts/generate-models from botocore 1.44.8; do not edit.
"""

from typing import Annotated, Literal

from smlocal.sagemaker.contract.model import request, shapes
from smlocal.terms.model.structure import Items, Structure, Text, Whole

# ruff: noqa: D101 - each is the service's structure of that name

_TrainingJobArn = Annotated[
    str,
    Text(
        minimum=0,
        maximum=256,
        pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:training-job/[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}",
    ),
]
_HyperParameterTuningJobArn = Annotated[
    str,
    Text(
        minimum=0,
        maximum=256,
        pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:hyper-parameter-tuning-job/.*",
    ),
]
_LabelingJobArn = Annotated[
    str, Text(minimum=0, maximum=2048, pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:labeling-job/.*")
]
_AutoMLJobArn = Annotated[
    str, Text(minimum=1, maximum=256, pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:automl-job/.*")
]
_TrainingJobStatus = Literal["InProgress", "Completed", "Failed", "Stopping", "Stopped", "Deleting"]
_SecondaryStatus = Literal[
    "Starting",
    "LaunchingMLInstances",
    "PreparingTrainingStack",
    "Downloading",
    "DownloadingTrainingImage",
    "Training",
    "Uploading",
    "Stopping",
    "Stopped",
    "MaxRuntimeExceeded",
    "Completed",
    "Failed",
    "Interrupted",
    "MaxWaitTimeExceeded",
    "Updating",
    "Restarting",
    "Pending",
]
_FailureReason = Annotated[str, Text(minimum=0, maximum=1024)]
_WarmPoolResourceStatus = Literal["Available", "Terminated", "Reused", "InUse"]
_ResourceRetainedBillableTimeInSeconds = Annotated[int, Whole(minimum=0)]
_Timestamp = float
_StatusMessage = Annotated[str, Text()]
_Float = float
_TrainingTimeInSeconds = Annotated[int, Whole(minimum=1)]
_BillableTimeInSeconds = Annotated[int, Whole(minimum=1)]
_BillableTokenCount = Annotated[int, Whole(minimum=0, long=True)]
_ProcessingJobArn = Annotated[
    str,
    Text(
        minimum=0,
        maximum=256,
        pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:processing-job/[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}",
    ),
]
_RuleEvaluationStatus = Literal["InProgress", "NoIssuesFound", "IssuesFound", "Error", "Stopping", "Stopped"]
_StatusDetails = Annotated[str, Text(minimum=0, maximum=1024, pattern=".*")]
_ProfilingStatus = Literal["Enabled", "Disabled"]
_MlflowExperimentId = Annotated[str, Text(minimum=1, maximum=256, pattern=".*")]
_MlflowRunId = Annotated[str, Text(minimum=1, maximum=256, pattern=".*")]
_TotalStepCountPerEpoch = Annotated[int, Whole(minimum=0, long=True)]
_TrainingStepIndex = Annotated[int, Whole(minimum=0, long=True)]
_TrainingEpochIndex = Annotated[int, Whole(minimum=0, long=True)]
_TrainingEpochCount = Annotated[int, Whole(minimum=0, long=True)]


class ModelArtifacts(Structure):
    S3ModelArtifacts: shapes.S3Uri


_ModelArtifacts = ModelArtifacts


class WarmPoolStatus(Structure):
    Status: _WarmPoolResourceStatus
    ResourceRetainedBillableTimeInSeconds: _ResourceRetainedBillableTimeInSeconds | None = None
    ReusedByJob: shapes.TrainingJobName | None = None


_WarmPoolStatus = WarmPoolStatus


class SecondaryStatusTransition(Structure):
    Status: _SecondaryStatus
    StartTime: _Timestamp
    EndTime: _Timestamp | None = None
    StatusMessage: _StatusMessage | None = None


_SecondaryStatusTransition = SecondaryStatusTransition


class MetricData(Structure):
    MetricName: shapes.MetricName | None = None
    Value: _Float | None = None
    Timestamp: _Timestamp | None = None


_MetricData = MetricData


class DebugRuleEvaluationStatus(Structure):
    RuleConfigurationName: shapes.RuleConfigurationName | None = None
    RuleEvaluationJobArn: _ProcessingJobArn | None = None
    RuleEvaluationStatus: _RuleEvaluationStatus | None = None
    StatusDetails: _StatusDetails | None = None
    LastModifiedTime: _Timestamp | None = None


_DebugRuleEvaluationStatus = DebugRuleEvaluationStatus


class ProfilerRuleEvaluationStatus(Structure):
    RuleConfigurationName: shapes.RuleConfigurationName | None = None
    RuleEvaluationJobArn: _ProcessingJobArn | None = None
    RuleEvaluationStatus: _RuleEvaluationStatus | None = None
    StatusDetails: _StatusDetails | None = None
    LastModifiedTime: _Timestamp | None = None


_ProfilerRuleEvaluationStatus = ProfilerRuleEvaluationStatus


class MlflowDetails(Structure):
    MlflowExperimentId: _MlflowExperimentId | None = None
    MlflowRunId: _MlflowRunId | None = None


_MlflowDetails = MlflowDetails


class TrainingProgressInfo(Structure):
    TotalStepCountPerEpoch: _TotalStepCountPerEpoch | None = None
    CurrentStep: _TrainingStepIndex | None = None
    CurrentEpoch: _TrainingEpochIndex | None = None
    MaxEpoch: _TrainingEpochCount | None = None


_TrainingProgressInfo = TrainingProgressInfo


class DescribeTrainingJobResponse(Structure):
    TrainingJobName: shapes.TrainingJobName
    TrainingJobArn: _TrainingJobArn
    TuningJobArn: _HyperParameterTuningJobArn | None = None
    LabelingJobArn: _LabelingJobArn | None = None
    AutoMLJobArn: _AutoMLJobArn | None = None
    ModelArtifacts: _ModelArtifacts
    TrainingJobStatus: _TrainingJobStatus
    SecondaryStatus: _SecondaryStatus
    FailureReason: _FailureReason | None = None
    HyperParameters: shapes.HyperParameters | None = None
    AlgorithmSpecification: request.AlgorithmSpecification | None = None
    RoleArn: shapes.RoleArn | None = None
    InputDataConfig: Annotated[list[request.Channel], Items(minimum=1, maximum=20)] | None = None
    OutputDataConfig: request.OutputDataConfig | None = None
    ResourceConfig: request.ResourceConfig | None = None
    WarmPoolStatus: _WarmPoolStatus | None = None
    VpcConfig: request.VpcConfig | None = None
    StoppingCondition: request.StoppingCondition
    CreationTime: _Timestamp
    TrainingStartTime: _Timestamp | None = None
    TrainingEndTime: _Timestamp | None = None
    LastModifiedTime: _Timestamp | None = None
    SecondaryStatusTransitions: list[_SecondaryStatusTransition] | None = None
    FinalMetricDataList: Annotated[list[_MetricData], Items(minimum=0, maximum=40)] | None = None
    EnableNetworkIsolation: shapes.Boolean | None = None
    EnableInterContainerTrafficEncryption: shapes.Boolean | None = None
    EnableManagedSpotTraining: shapes.Boolean | None = None
    CheckpointConfig: request.CheckpointConfig | None = None
    TrainingTimeInSeconds: _TrainingTimeInSeconds | None = None
    BillableTimeInSeconds: _BillableTimeInSeconds | None = None
    BillableTokenCount: _BillableTokenCount | None = None
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
    ProfilingStatus: _ProfilingStatus | None = None
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
