"""The CreateTrainingJob request.

Written by scripts/generate-models from botocore 1.44.8; do not edit.
"""

from typing import Annotated

from smlocal.sagemaker.contract.model import shapes
from smlocal.terms.model.structure import Items, Structure

# ruff: noqa: D101 - each is the service's structure of that name


class MetricDefinition(Structure):
    Name: shapes.MetricName
    Regex: shapes.MetricRegex


_MetricDefinition = MetricDefinition


class TrainingRepositoryAuthConfig(Structure):
    TrainingRepositoryCredentialsProviderArn: shapes.TrainingRepositoryCredentialsProviderArn


_TrainingRepositoryAuthConfig = TrainingRepositoryAuthConfig


class TrainingImageConfig(Structure):
    TrainingRepositoryAccessMode: shapes.TrainingRepositoryAccessMode
    TrainingRepositoryAuthConfig: _TrainingRepositoryAuthConfig | None = None


_TrainingImageConfig = TrainingImageConfig


class AlgorithmSpecification(Structure):
    TrainingImage: shapes.AlgorithmImage | None = None
    AlgorithmName: shapes.ArnOrName | None = None
    TrainingInputMode: shapes.TrainingInputMode
    MetricDefinitions: Annotated[list[_MetricDefinition], Items(minimum=0, maximum=40)] | None = None
    EnableSageMakerMetricsTimeSeries: shapes.Boolean | None = None
    ContainerEntrypoint: shapes.TrainingContainerEntrypoint | None = None
    ContainerArguments: shapes.TrainingContainerArguments | None = None
    TrainingImageConfig: _TrainingImageConfig | None = None


_AlgorithmSpecification = AlgorithmSpecification


class ModelAccessConfig(Structure):
    AcceptEula: shapes.AcceptEula


_ModelAccessConfig = ModelAccessConfig


class HubAccessConfig(Structure):
    HubContentArn: shapes.HubContentArn


_HubAccessConfig = HubAccessConfig


class S3DataSource(Structure):
    S3DataType: shapes.S3DataType
    S3Uri: shapes.S3Uri
    S3DataDistributionType: shapes.S3DataDistribution | None = None
    AttributeNames: shapes.AttributeNames | None = None
    InstanceGroupNames: shapes.InstanceGroupNames | None = None
    ModelAccessConfig: _ModelAccessConfig | None = None
    HubAccessConfig: _HubAccessConfig | None = None


_S3DataSource = S3DataSource


class FileSystemDataSource(Structure):
    FileSystemId: shapes.FileSystemId
    FileSystemAccessMode: shapes.FileSystemAccessMode
    FileSystemType: shapes.FileSystemType
    DirectoryPath: shapes.DirectoryPath


_FileSystemDataSource = FileSystemDataSource


class DatasetSource(Structure):
    DatasetArn: shapes.HubDataSetArn


_DatasetSource = DatasetSource


class DataSource(Structure):
    S3DataSource: _S3DataSource | None = None
    FileSystemDataSource: _FileSystemDataSource | None = None
    DatasetSource: _DatasetSource | None = None


_DataSource = DataSource


class ShuffleConfig(Structure):
    Seed: shapes.Seed


_ShuffleConfig = ShuffleConfig


class Channel(Structure):
    ChannelName: shapes.ChannelName
    DataSource: _DataSource
    ContentType: shapes.ContentType | None = None
    CompressionType: shapes.CompressionType | None = None
    RecordWrapperType: shapes.RecordWrapper | None = None
    InputMode: shapes.TrainingInputMode | None = None
    ShuffleConfig: _ShuffleConfig | None = None


_Channel = Channel


class OutputDataConfig(Structure):
    KmsKeyId: shapes.KmsKeyId | None = None
    S3OutputPath: shapes.S3Uri
    CompressionType: shapes.OutputCompressionType | None = None


_OutputDataConfig = OutputDataConfig


class InstanceGroup(Structure):
    InstanceType: shapes.TrainingInstanceType
    InstanceCount: shapes.TrainingInstanceCount
    InstanceGroupName: shapes.InstanceGroupName


_InstanceGroup = InstanceGroup


class PlacementSpecification(Structure):
    UltraServerId: shapes.String256 | None = None
    InstanceCount: shapes.TrainingInstanceCount


_PlacementSpecification = PlacementSpecification


class InstancePlacementConfig(Structure):
    EnableMultipleJobs: shapes.Boolean | None = None
    PlacementSpecifications: Annotated[list[_PlacementSpecification], Items(minimum=0, maximum=10)] | None = None


_InstancePlacementConfig = InstancePlacementConfig


class InstancePreference(Structure):
    InstanceType: shapes.TrainingInstanceType
    InstanceCount: shapes.TrainingInstanceCount | None = None
    TrainingPlanArns: shapes.TrainingPlanArnList | None = None


_InstancePreference = InstancePreference


class ResourceConfig(Structure):
    InstanceType: shapes.TrainingInstanceType | None = None
    InstanceCount: shapes.TrainingInstanceCount | None = None
    VolumeSizeInGB: shapes.OptionalVolumeSizeInGB | None = None
    VolumeKmsKeyId: shapes.KmsKeyId | None = None
    KeepAlivePeriodInSeconds: shapes.KeepAlivePeriodInSeconds | None = None
    InstanceGroups: Annotated[list[_InstanceGroup], Items(minimum=0, maximum=5)] | None = None
    TrainingPlanArn: shapes.TrainingPlanArn | None = None
    InstancePlacementConfig: _InstancePlacementConfig | None = None
    InstancePreferences: Annotated[list[_InstancePreference], Items(minimum=1, maximum=5)] | None = None
    SelectedInstanceType: shapes.TrainingInstanceType | None = None
    SelectedInstanceCount: shapes.TrainingInstanceCount | None = None


_ResourceConfig = ResourceConfig


class VpcConfig(Structure):
    SecurityGroupIds: shapes.VpcSecurityGroupIds
    Subnets: shapes.Subnets


_VpcConfig = VpcConfig


class StoppingCondition(Structure):
    MaxRuntimeInSeconds: shapes.MaxRuntimeInSeconds | None = None
    MaxWaitTimeInSeconds: shapes.MaxWaitTimeInSeconds | None = None
    MaxPendingTimeInSeconds: shapes.MaxPendingTimeInSeconds | None = None


_StoppingCondition = StoppingCondition


class Tag(Structure):
    Key: shapes.TagKey
    Value: shapes.TagValue


_Tag = Tag


class CheckpointConfig(Structure):
    S3Uri: shapes.S3Uri
    LocalPath: shapes.DirectoryPath | None = None


_CheckpointConfig = CheckpointConfig


class CollectionConfiguration(Structure):
    CollectionName: shapes.CollectionName | None = None
    CollectionParameters: shapes.CollectionParameters | None = None


_CollectionConfiguration = CollectionConfiguration


class DebugHookConfig(Structure):
    LocalPath: shapes.DirectoryPath | None = None
    S3OutputPath: shapes.S3Uri
    HookParameters: shapes.HookParameters | None = None
    CollectionConfigurations: Annotated[list[_CollectionConfiguration], Items(minimum=0, maximum=20)] | None = None


_DebugHookConfig = DebugHookConfig


class DebugRuleConfiguration(Structure):
    RuleConfigurationName: shapes.RuleConfigurationName
    LocalPath: shapes.DirectoryPath | None = None
    S3OutputPath: shapes.S3Uri | None = None
    RuleEvaluatorImage: shapes.AlgorithmImage
    InstanceType: shapes.ProcessingInstanceType | None = None
    VolumeSizeInGB: shapes.OptionalVolumeSizeInGB | None = None
    RuleParameters: shapes.RuleParameters | None = None


_DebugRuleConfiguration = DebugRuleConfiguration


class TensorBoardOutputConfig(Structure):
    LocalPath: shapes.DirectoryPath | None = None
    S3OutputPath: shapes.S3Uri


_TensorBoardOutputConfig = TensorBoardOutputConfig


class ExperimentConfig(Structure):
    ExperimentName: shapes.ExperimentEntityName | None = None
    TrialName: shapes.ExperimentEntityName | None = None
    TrialComponentDisplayName: shapes.ExperimentEntityName | None = None
    RunName: shapes.ExperimentEntityName | None = None


_ExperimentConfig = ExperimentConfig


class ProfilerConfig(Structure):
    S3OutputPath: shapes.S3Uri | None = None
    ProfilingIntervalInMilliseconds: shapes.ProfilingIntervalInMilliseconds | None = None
    ProfilingParameters: shapes.ProfilingParameters | None = None
    DisableProfiler: shapes.DisableProfiler | None = None


_ProfilerConfig = ProfilerConfig


class ProfilerRuleConfiguration(Structure):
    RuleConfigurationName: shapes.RuleConfigurationName
    LocalPath: shapes.DirectoryPath | None = None
    S3OutputPath: shapes.S3Uri | None = None
    RuleEvaluatorImage: shapes.AlgorithmImage
    InstanceType: shapes.ProcessingInstanceType | None = None
    VolumeSizeInGB: shapes.OptionalVolumeSizeInGB | None = None
    RuleParameters: shapes.RuleParameters | None = None


_ProfilerRuleConfiguration = ProfilerRuleConfiguration


class RetryStrategy(Structure):
    MaximumRetryAttempts: shapes.MaximumRetryAttempts


_RetryStrategy = RetryStrategy


class RemoteDebugConfig(Structure):
    EnableRemoteDebug: shapes.EnableRemoteDebug | None = None


_RemoteDebugConfig = RemoteDebugConfig


class InfraCheckConfig(Structure):
    EnableInfraCheck: shapes.EnableInfraCheck | None = None


_InfraCheckConfig = InfraCheckConfig


class SessionChainingConfig(Structure):
    EnableSessionTagChaining: shapes.EnableSessionTagChaining | None = None


_SessionChainingConfig = SessionChainingConfig


class ServerlessJobConfig(Structure):
    BaseModelArn: shapes.ServerlessJobBaseModelArn
    AcceptEula: shapes.AcceptEula | None = None
    JobType: shapes.ServerlessJobType
    CustomizationTechnique: shapes.CustomizationTechnique | None = None
    Peft: shapes.Peft | None = None
    EvaluationType: shapes.EvaluationType | None = None
    EvaluatorArn: shapes.EvaluatorArn | None = None
    SequenceLength: shapes.SequenceLength | None = None


_ServerlessJobConfig = ServerlessJobConfig


class MlflowConfig(Structure):
    MlflowResourceArn: shapes.MlFlowResourceArn
    MlflowExperimentName: shapes.MlflowExperimentName | None = None
    MlflowRunName: shapes.MlflowRunName | None = None


_MlflowConfig = MlflowConfig


class ModelPackageConfig(Structure):
    ModelPackageGroupArn: shapes.ModelPackageGroupArn
    SourceModelPackageArn: shapes.ModelPackageArn | None = None


_ModelPackageConfig = ModelPackageConfig


class CreateTrainingJobRequest(Structure):
    TrainingJobName: shapes.TrainingJobName | None = None
    HyperParameters: shapes.HyperParameters | None = None
    AlgorithmSpecification: _AlgorithmSpecification | None = None
    RoleArn: shapes.RoleArn | None = None
    InputDataConfig: Annotated[list[_Channel], Items(minimum=1, maximum=20)] | None = None
    OutputDataConfig: _OutputDataConfig
    ResourceConfig: _ResourceConfig | None = None
    VpcConfig: _VpcConfig | None = None
    StoppingCondition: _StoppingCondition | None = None
    Tags: Annotated[list[_Tag], Items(minimum=0, maximum=50)] | None = None
    EnableNetworkIsolation: shapes.Boolean | None = None
    EnableInterContainerTrafficEncryption: shapes.Boolean | None = None
    EnableManagedSpotTraining: shapes.Boolean | None = None
    CheckpointConfig: _CheckpointConfig | None = None
    DebugHookConfig: _DebugHookConfig | None = None
    DebugRuleConfigurations: Annotated[list[_DebugRuleConfiguration], Items(minimum=0, maximum=20)] | None = None
    TensorBoardOutputConfig: _TensorBoardOutputConfig | None = None
    ExperimentConfig: _ExperimentConfig | None = None
    ProfilerConfig: _ProfilerConfig | None = None
    ProfilerRuleConfigurations: Annotated[list[_ProfilerRuleConfiguration], Items(minimum=0, maximum=20)] | None = None
    Environment: shapes.TrainingEnvironmentMap | None = None
    RetryStrategy: _RetryStrategy | None = None
    RemoteDebugConfig: _RemoteDebugConfig | None = None
    InfraCheckConfig: _InfraCheckConfig | None = None
    SessionChainingConfig: _SessionChainingConfig | None = None
    ServerlessJobConfig: _ServerlessJobConfig | None = None
    MlflowConfig: _MlflowConfig | None = None
    ModelPackageConfig: _ModelPackageConfig | None = None


_CreateTrainingJobRequest = CreateTrainingJobRequest
