"""The requests CreateModel, CreateEndpointConfig and CreateEndpoint.

Written by scripts/generate-models from botocore 1.44.8; do not edit.
"""

from typing import Annotated

from smlocal.sagemaker.contract.model import hosting_shapes, request, shapes
from smlocal.terms.model.structure import Items, Structure

# ruff: noqa: D101 - each is the service's structure of that name


class RepositoryAuthConfig(Structure):
    RepositoryCredentialsProviderArn: hosting_shapes.RepositoryCredentialsProviderArn


_RepositoryAuthConfig = RepositoryAuthConfig


class ImageConfig(Structure):
    RepositoryAccessMode: hosting_shapes.RepositoryAccessMode
    RepositoryAuthConfig: _RepositoryAuthConfig | None = None


_ImageConfig = ImageConfig


class InferenceHubAccessConfig(Structure):
    HubContentArn: shapes.HubContentArn


_InferenceHubAccessConfig = InferenceHubAccessConfig


class S3ModelDataSource(Structure):
    S3Uri: hosting_shapes.S3ModelUri
    S3DataType: hosting_shapes.S3ModelDataType
    CompressionType: hosting_shapes.ModelCompressionType
    ModelAccessConfig: request.ModelAccessConfig | None = None
    HubAccessConfig: _InferenceHubAccessConfig | None = None
    ManifestS3Uri: hosting_shapes.S3ModelUri | None = None
    ETag: hosting_shapes.String | None = None
    ManifestEtag: hosting_shapes.String | None = None


_S3ModelDataSource = S3ModelDataSource


class ModelDataSource(Structure):
    S3DataSource: _S3ModelDataSource | None = None


_ModelDataSource = ModelDataSource


class AdditionalModelDataSource(Structure):
    ChannelName: hosting_shapes.AdditionalModelChannelName
    S3DataSource: _S3ModelDataSource


_AdditionalModelDataSource = AdditionalModelDataSource


class MultiModelConfig(Structure):
    ModelCacheSetting: hosting_shapes.ModelCacheSetting | None = None


_MultiModelConfig = MultiModelConfig


class MetricsEndpoint(Structure):
    MetricsEndpointPath: hosting_shapes.MetricsEndpointPath
    MetricPublishFrequencyInSeconds: hosting_shapes.MetricPublishFrequencyInSeconds | None = None


_MetricsEndpoint = MetricsEndpoint


class ContainerMetricsConfig(Structure):
    MetricsEndpoints: Annotated[list[_MetricsEndpoint], Items(minimum=0, maximum=1)] | None = None


_ContainerMetricsConfig = ContainerMetricsConfig


class ContainerDefinition(Structure):
    ContainerHostname: hosting_shapes.ContainerHostname | None = None
    Image: hosting_shapes.ContainerImage | None = None
    ImageConfig: _ImageConfig | None = None
    Mode: hosting_shapes.ContainerMode | None = None
    ModelDataUrl: hosting_shapes.Url | None = None
    ModelDataSource: _ModelDataSource | None = None
    AdditionalModelDataSources: Annotated[list[_AdditionalModelDataSource], Items(minimum=0, maximum=5)] | None = None
    Environment: hosting_shapes.EnvironmentMap | None = None
    ModelPackageName: hosting_shapes.VersionedArnOrName | None = None
    InferenceSpecificationName: hosting_shapes.InferenceSpecificationName | None = None
    MultiModelConfig: _MultiModelConfig | None = None
    ContainerMetricsConfig: _ContainerMetricsConfig | None = None


_ContainerDefinition = ContainerDefinition


class InferenceExecutionConfig(Structure):
    Mode: hosting_shapes.InferenceExecutionMode


_InferenceExecutionConfig = InferenceExecutionConfig


class CreateModelInput(Structure):
    ModelName: hosting_shapes.ModelName | None = None
    PrimaryContainer: _ContainerDefinition | None = None
    Containers: Annotated[list[_ContainerDefinition], Items(minimum=0, maximum=15)] | None = None
    InferenceExecutionConfig: _InferenceExecutionConfig | None = None
    ExecutionRoleArn: shapes.RoleArn | None = None
    Tags: Annotated[list[request.Tag], Items(minimum=0, maximum=50)] | None = None
    VpcConfig: request.VpcConfig | None = None
    EnableNetworkIsolation: shapes.Boolean | None = None


_CreateModelInput = CreateModelInput


class InstancePool(Structure):
    InstanceType: hosting_shapes.ProductionVariantInstanceType
    ModelNameOverride: hosting_shapes.ModelName | None = None
    Priority: hosting_shapes.InstancePoolPriority


_InstancePool = InstancePool


class ProductionVariantCoreDumpConfig(Structure):
    DestinationS3Uri: hosting_shapes.DestinationS3Uri
    KmsKeyId: shapes.KmsKeyId | None = None


_ProductionVariantCoreDumpConfig = ProductionVariantCoreDumpConfig


class ProductionVariantServerlessConfig(Structure):
    MemorySizeInMB: hosting_shapes.ServerlessMemorySizeInMB
    MaxConcurrency: hosting_shapes.ServerlessMaxConcurrency
    ProvisionedConcurrency: hosting_shapes.ServerlessProvisionedConcurrency | None = None


_ProductionVariantServerlessConfig = ProductionVariantServerlessConfig


class ProductionVariantManagedInstanceScalingScaleInPolicy(Structure):
    Strategy: hosting_shapes.ManagedInstanceScalingScaleInStrategy
    MaximumStepSize: hosting_shapes.ManagedInstanceScalingMaximumStepSize | None = None
    CooldownInMinutes: hosting_shapes.ManagedInstanceScalingCooldownInMinutes | None = None


_ProductionVariantManagedInstanceScalingScaleInPolicy = ProductionVariantManagedInstanceScalingScaleInPolicy


class ProductionVariantManagedInstanceScaling(Structure):
    Status: hosting_shapes.ManagedInstanceScalingStatus | None = None
    MinInstanceCount: hosting_shapes.ManagedInstanceScalingMinInstanceCount | None = None
    MaxInstanceCount: hosting_shapes.ManagedInstanceScalingMaxInstanceCount | None = None
    ScaleInPolicy: _ProductionVariantManagedInstanceScalingScaleInPolicy | None = None


_ProductionVariantManagedInstanceScaling = ProductionVariantManagedInstanceScaling


class PrefixAwareRoutingConfig(Structure):
    PrefixLength: hosting_shapes.PrefixAwareRoutingPrefixLength | None = None
    ConcurrencyThreshold: hosting_shapes.PrefixAwareRoutingConcurrencyThreshold | None = None


_PrefixAwareRoutingConfig = PrefixAwareRoutingConfig


class ProductionVariantRoutingConfig(Structure):
    RoutingStrategy: hosting_shapes.RoutingStrategy
    PrefixAwareRoutingConfig: _PrefixAwareRoutingConfig | None = None


_ProductionVariantRoutingConfig = ProductionVariantRoutingConfig


class ProductionVariantCapacityReservationConfig(Structure):
    CapacityReservationPreference: hosting_shapes.CapacityReservationPreference | None = None
    MlReservationArn: hosting_shapes.MlReservationArn | None = None


_ProductionVariantCapacityReservationConfig = ProductionVariantCapacityReservationConfig


class AcceleratorPartitionLayout(Structure):
    AcceleratorPartitionTypes: hosting_shapes.AcceleratorPartitionTypeList | None = None


_AcceleratorPartitionLayout = AcceleratorPartitionLayout


class ProductionVariant(Structure):
    VariantName: hosting_shapes.VariantName | None = None
    ModelName: hosting_shapes.ModelName | None = None
    InitialInstanceCount: hosting_shapes.InitialTaskCount | None = None
    InstanceType: hosting_shapes.ProductionVariantInstanceType | None = None
    InstancePools: Annotated[list[_InstancePool], Items(minimum=1, maximum=5)] | None = None
    VariantInstanceProvisionTimeoutInSeconds: hosting_shapes.VariantInstanceProvisionTimeoutInSeconds | None = None
    InitialVariantWeight: hosting_shapes.VariantWeight | None = None
    AcceleratorType: hosting_shapes.ProductionVariantAcceleratorType | None = None
    CoreDumpConfig: _ProductionVariantCoreDumpConfig | None = None
    ServerlessConfig: _ProductionVariantServerlessConfig | None = None
    VolumeSizeInGB: hosting_shapes.ProductionVariantVolumeSizeInGB | None = None
    ModelDataDownloadTimeoutInSeconds: hosting_shapes.ProductionVariantModelDataDownloadTimeoutInSeconds | None = None
    ContainerStartupHealthCheckTimeoutInSeconds: (
        hosting_shapes.ProductionVariantContainerStartupHealthCheckTimeoutInSeconds | None
    ) = None
    EnableSSMAccess: hosting_shapes.ProductionVariantSSMAccess | None = None
    ManagedInstanceScaling: _ProductionVariantManagedInstanceScaling | None = None
    RoutingConfig: _ProductionVariantRoutingConfig | None = None
    InferenceAmiVersion: hosting_shapes.ProductionVariantInferenceAmiVersion | None = None
    CapacityReservationConfig: _ProductionVariantCapacityReservationConfig | None = None
    AcceleratorPartitionLayouts: Annotated[list[_AcceleratorPartitionLayout], Items(minimum=1, maximum=32)] | None = (
        None
    )


_ProductionVariant = ProductionVariant


class CaptureOption(Structure):
    CaptureMode: hosting_shapes.CaptureMode


_CaptureOption = CaptureOption


class CaptureContentTypeHeader(Structure):
    CsvContentTypes: hosting_shapes.CsvContentTypes | None = None
    JsonContentTypes: hosting_shapes.JsonContentTypes | None = None


_CaptureContentTypeHeader = CaptureContentTypeHeader


class DataCaptureConfig(Structure):
    EnableCapture: hosting_shapes.EnableCapture | None = None
    InitialSamplingPercentage: hosting_shapes.SamplingPercentage
    DestinationS3Uri: hosting_shapes.DestinationS3Uri
    KmsKeyId: shapes.KmsKeyId | None = None
    CaptureOptions: Annotated[list[_CaptureOption], Items(minimum=1, maximum=32)]
    CaptureContentTypeHeader: _CaptureContentTypeHeader | None = None


_DataCaptureConfig = DataCaptureConfig


class AsyncInferenceClientConfig(Structure):
    MaxConcurrentInvocationsPerInstance: hosting_shapes.MaxConcurrentInvocationsPerInstance | None = None


_AsyncInferenceClientConfig = AsyncInferenceClientConfig


class AsyncInferenceNotificationConfig(Structure):
    SuccessTopic: hosting_shapes.SnsTopicArn | None = None
    ErrorTopic: hosting_shapes.SnsTopicArn | None = None
    IncludeInferenceResponseIn: hosting_shapes.AsyncNotificationTopicTypeList | None = None


_AsyncInferenceNotificationConfig = AsyncInferenceNotificationConfig


class AsyncInferenceOutputConfig(Structure):
    KmsKeyId: shapes.KmsKeyId | None = None
    S3OutputPath: hosting_shapes.DestinationS3Uri | None = None
    NotificationConfig: _AsyncInferenceNotificationConfig | None = None
    S3FailurePath: hosting_shapes.DestinationS3Uri | None = None


_AsyncInferenceOutputConfig = AsyncInferenceOutputConfig


class AsyncInferenceConfig(Structure):
    ClientConfig: _AsyncInferenceClientConfig | None = None
    OutputConfig: _AsyncInferenceOutputConfig


_AsyncInferenceConfig = AsyncInferenceConfig


class ClarifyInferenceConfig(Structure):
    FeaturesAttribute: hosting_shapes.ClarifyFeaturesAttribute | None = None
    ContentTemplate: hosting_shapes.ClarifyContentTemplate | None = None
    MaxRecordCount: hosting_shapes.ClarifyMaxRecordCount | None = None
    MaxPayloadInMB: hosting_shapes.ClarifyMaxPayloadInMB | None = None
    ProbabilityIndex: hosting_shapes.ClarifyProbabilityIndex | None = None
    LabelIndex: hosting_shapes.ClarifyLabelIndex | None = None
    ProbabilityAttribute: hosting_shapes.ClarifyProbabilityAttribute | None = None
    LabelAttribute: hosting_shapes.ClarifyLabelAttribute | None = None
    LabelHeaders: hosting_shapes.ClarifyLabelHeaders | None = None
    FeatureHeaders: hosting_shapes.ClarifyFeatureHeaders | None = None
    FeatureTypes: hosting_shapes.ClarifyFeatureTypes | None = None


_ClarifyInferenceConfig = ClarifyInferenceConfig


class ClarifyShapBaselineConfig(Structure):
    MimeType: hosting_shapes.ClarifyMimeType | None = None
    ShapBaseline: hosting_shapes.ClarifyShapBaseline | None = None
    ShapBaselineUri: hosting_shapes.Url | None = None


_ClarifyShapBaselineConfig = ClarifyShapBaselineConfig


class ClarifyTextConfig(Structure):
    Language: hosting_shapes.ClarifyTextLanguage
    Granularity: hosting_shapes.ClarifyTextGranularity


_ClarifyTextConfig = ClarifyTextConfig


class ClarifyShapConfig(Structure):
    ShapBaselineConfig: _ClarifyShapBaselineConfig
    NumberOfSamples: hosting_shapes.ClarifyShapNumberOfSamples | None = None
    UseLogit: hosting_shapes.ClarifyShapUseLogit | None = None
    Seed: hosting_shapes.ClarifyShapSeed | None = None
    TextConfig: _ClarifyTextConfig | None = None


_ClarifyShapConfig = ClarifyShapConfig


class ClarifyExplainerConfig(Structure):
    EnableExplanations: hosting_shapes.ClarifyEnableExplanations | None = None
    InferenceConfig: _ClarifyInferenceConfig | None = None
    ShapConfig: _ClarifyShapConfig


_ClarifyExplainerConfig = ClarifyExplainerConfig


class ExplainerConfig(Structure):
    ClarifyExplainerConfig: _ClarifyExplainerConfig | None = None


_ExplainerConfig = ExplainerConfig


class MetricsConfig(Structure):
    EnableEnhancedMetrics: hosting_shapes.EnableEnhancedMetrics | None = None
    EnableDetailedObservability: hosting_shapes.EnableDetailedObservability | None = None
    MetricPublishFrequencyInSeconds: hosting_shapes.MetricPublishFrequencyInSeconds | None = None


_MetricsConfig = MetricsConfig


class CrossRegionTrafficConfig(Structure):
    MaxInvocationsPerSecondPerInstance: hosting_shapes.CrossRegionMaxInvocationsPerSecondPerInstance
    MaxCrossRegionPercentPerEndpoint: hosting_shapes.CrossRegionPercentPerEndpoint


_CrossRegionTrafficConfig = CrossRegionTrafficConfig


class CreateEndpointConfigInput(Structure):
    EndpointConfigName: hosting_shapes.EndpointConfigName | None = None
    ProductionVariants: Annotated[list[_ProductionVariant], Items(minimum=1, maximum=10)] | None = None
    DataCaptureConfig: _DataCaptureConfig | None = None
    Tags: Annotated[list[request.Tag], Items(minimum=0, maximum=50)] | None = None
    KmsKeyId: shapes.KmsKeyId | None = None
    AsyncInferenceConfig: _AsyncInferenceConfig | None = None
    ExplainerConfig: _ExplainerConfig | None = None
    ShadowProductionVariants: Annotated[list[_ProductionVariant], Items(minimum=1, maximum=10)] | None = None
    ExecutionRoleArn: shapes.RoleArn | None = None
    VpcConfig: request.VpcConfig | None = None
    EnableNetworkIsolation: shapes.Boolean | None = None
    MetricsConfig: _MetricsConfig | None = None
    CrossRegionTrafficConfig: _CrossRegionTrafficConfig | None = None


_CreateEndpointConfigInput = CreateEndpointConfigInput


class CapacitySize(Structure):
    Type: hosting_shapes.CapacitySizeType
    Value: hosting_shapes.CapacitySizeValue


_CapacitySize = CapacitySize


class TrafficRoutingConfig(Structure):
    Type: hosting_shapes.TrafficRoutingConfigType
    WaitIntervalInSeconds: hosting_shapes.WaitIntervalInSeconds
    CanarySize: _CapacitySize | None = None
    LinearStepSize: _CapacitySize | None = None


_TrafficRoutingConfig = TrafficRoutingConfig


class BlueGreenUpdatePolicy(Structure):
    TrafficRoutingConfiguration: _TrafficRoutingConfig
    TerminationWaitInSeconds: hosting_shapes.TerminationWaitInSeconds | None = None
    MaximumExecutionTimeoutInSeconds: hosting_shapes.MaximumExecutionTimeoutInSeconds | None = None


_BlueGreenUpdatePolicy = BlueGreenUpdatePolicy


class RollingUpdatePolicy(Structure):
    MaximumBatchSize: _CapacitySize
    WaitIntervalInSeconds: hosting_shapes.WaitIntervalInSeconds
    MaximumExecutionTimeoutInSeconds: hosting_shapes.MaximumExecutionTimeoutInSeconds | None = None
    RollbackMaximumBatchSize: _CapacitySize | None = None


_RollingUpdatePolicy = RollingUpdatePolicy


class Alarm(Structure):
    AlarmName: hosting_shapes.AlarmName | None = None


_Alarm = Alarm


class AutoRollbackConfig(Structure):
    Alarms: Annotated[list[_Alarm], Items(minimum=1, maximum=10)] | None = None


_AutoRollbackConfig = AutoRollbackConfig


class DeploymentConfig(Structure):
    BlueGreenUpdatePolicy: _BlueGreenUpdatePolicy | None = None
    RollingUpdatePolicy: _RollingUpdatePolicy | None = None
    AutoRollbackConfiguration: _AutoRollbackConfig | None = None


_DeploymentConfig = DeploymentConfig


class CreateEndpointInput(Structure):
    EndpointName: hosting_shapes.EndpointName | None = None
    EndpointConfigName: hosting_shapes.EndpointConfigName | None = None
    DeploymentConfig: _DeploymentConfig | None = None
    Tags: Annotated[list[request.Tag], Items(minimum=0, maximum=50)] | None = None


_CreateEndpointInput = CreateEndpointInput
