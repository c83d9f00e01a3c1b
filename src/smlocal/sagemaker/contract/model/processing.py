"""The CreateProcessingJob request.

Written by scripts/generate-models from botocore 1.44.5; do not edit.
"""

from typing import Annotated

from smlocal.jobs.contract.model.structure import Items, Structure
from smlocal.sagemaker.contract.model import processing_shapes, request, shapes

# ruff: noqa: D101 - each is the service's structure of that name


class ProcessingS3Input(Structure):
    S3Uri: shapes.S3Uri
    LocalPath: processing_shapes.ProcessingLocalPath | None = None
    S3DataType: processing_shapes.ProcessingS3DataType | None = None
    S3InputMode: processing_shapes.ProcessingS3InputMode | None = None
    S3DataDistributionType: processing_shapes.ProcessingS3DataDistributionType | None = None
    S3CompressionType: processing_shapes.ProcessingS3CompressionType | None = None


_ProcessingS3Input = ProcessingS3Input


class AthenaDatasetDefinition(Structure):
    Catalog: processing_shapes.AthenaCatalog
    Database: processing_shapes.AthenaDatabase
    QueryString: processing_shapes.AthenaQueryString
    WorkGroup: processing_shapes.AthenaWorkGroup | None = None
    OutputS3Uri: shapes.S3Uri
    KmsKeyId: shapes.KmsKeyId | None = None
    OutputFormat: processing_shapes.AthenaResultFormat
    OutputCompression: processing_shapes.AthenaResultCompressionType | None = None


_AthenaDatasetDefinition = AthenaDatasetDefinition


class RedshiftDatasetDefinition(Structure):
    ClusterId: processing_shapes.RedshiftClusterId
    Database: processing_shapes.RedshiftDatabase
    DbUser: processing_shapes.RedshiftUserName
    QueryString: processing_shapes.RedshiftQueryString
    ClusterRoleArn: shapes.RoleArn
    OutputS3Uri: shapes.S3Uri
    KmsKeyId: shapes.KmsKeyId | None = None
    OutputFormat: processing_shapes.RedshiftResultFormat
    OutputCompression: processing_shapes.RedshiftResultCompressionType | None = None


_RedshiftDatasetDefinition = RedshiftDatasetDefinition


class DatasetDefinition(Structure):
    AthenaDatasetDefinition: _AthenaDatasetDefinition | None = None
    RedshiftDatasetDefinition: _RedshiftDatasetDefinition | None = None
    LocalPath: processing_shapes.ProcessingLocalPath | None = None
    DataDistributionType: processing_shapes.DataDistributionType | None = None
    InputMode: processing_shapes.InputMode | None = None


_DatasetDefinition = DatasetDefinition


class ProcessingInput(Structure):
    InputName: processing_shapes.String
    AppManaged: processing_shapes.AppManaged | None = None
    S3Input: _ProcessingS3Input | None = None
    DatasetDefinition: _DatasetDefinition | None = None


_ProcessingInput = ProcessingInput


class ProcessingS3Output(Structure):
    S3Uri: shapes.S3Uri
    LocalPath: processing_shapes.ProcessingLocalPath | None = None
    S3UploadMode: processing_shapes.ProcessingS3UploadMode | None = None


_ProcessingS3Output = ProcessingS3Output


class ProcessingFeatureStoreOutput(Structure):
    FeatureGroupName: processing_shapes.FeatureGroupName


_ProcessingFeatureStoreOutput = ProcessingFeatureStoreOutput


class ProcessingOutput(Structure):
    OutputName: processing_shapes.String
    S3Output: _ProcessingS3Output | None = None
    FeatureStoreOutput: _ProcessingFeatureStoreOutput | None = None
    AppManaged: processing_shapes.AppManaged | None = None


_ProcessingOutput = ProcessingOutput


class ProcessingOutputConfig(Structure):
    Outputs: Annotated[list[_ProcessingOutput], Items(minimum=0, maximum=10)]
    KmsKeyId: shapes.KmsKeyId | None = None


_ProcessingOutputConfig = ProcessingOutputConfig


class ProcessingInstancePreference(Structure):
    InstanceType: processing_shapes.ProcessingInstanceType
    InstanceCount: processing_shapes.ProcessingInstanceCount | None = None


_ProcessingInstancePreference = ProcessingInstancePreference


class ProcessingClusterConfig(Structure):
    InstanceCount: processing_shapes.ProcessingInstanceCount | None = None
    InstanceType: processing_shapes.ProcessingInstanceType | None = None
    VolumeSizeInGB: processing_shapes.ProcessingVolumeSizeInGB | None = None
    VolumeKmsKeyId: shapes.KmsKeyId | None = None
    InstancePreferences: Annotated[list[_ProcessingInstancePreference], Items(minimum=1, maximum=5)] | None = None
    SelectedInstanceType: processing_shapes.ProcessingInstanceType | None = None
    SelectedInstanceCount: processing_shapes.ProcessingInstanceCount | None = None


_ProcessingClusterConfig = ProcessingClusterConfig


class ProcessingResources(Structure):
    ClusterConfig: _ProcessingClusterConfig | None = None


_ProcessingResources = ProcessingResources


class ProcessingStoppingCondition(Structure):
    MaxRuntimeInSeconds: processing_shapes.ProcessingMaxRuntimeInSeconds


_ProcessingStoppingCondition = ProcessingStoppingCondition


class AppSpecification(Structure):
    ImageUri: processing_shapes.ImageUri
    ContainerEntrypoint: processing_shapes.ContainerEntrypoint | None = None
    ContainerArguments: processing_shapes.ContainerArguments | None = None


_AppSpecification = AppSpecification


class NetworkConfig(Structure):
    EnableInterContainerTrafficEncryption: shapes.Boolean | None = None
    EnableNetworkIsolation: shapes.Boolean | None = None
    VpcConfig: request.VpcConfig | None = None


_NetworkConfig = NetworkConfig


class CreateProcessingJobRequest(Structure):
    ProcessingInputs: Annotated[list[_ProcessingInput], Items(minimum=0, maximum=10)] | None = None
    ProcessingOutputConfig: _ProcessingOutputConfig | None = None
    ProcessingJobName: processing_shapes.ProcessingJobName | None = None
    ProcessingResources: _ProcessingResources | None = None
    StoppingCondition: _ProcessingStoppingCondition | None = None
    AppSpecification: _AppSpecification
    Environment: processing_shapes.ProcessingEnvironmentMap | None = None
    NetworkConfig: _NetworkConfig | None = None
    RoleArn: shapes.RoleArn | None = None
    Tags: Annotated[list[request.Tag], Items(minimum=0, maximum=50)] | None = None
    ExperimentConfig: request.ExperimentConfig | None = None


_CreateProcessingJobRequest = CreateProcessingJobRequest
