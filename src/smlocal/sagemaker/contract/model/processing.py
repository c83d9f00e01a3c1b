"""The CreateProcessingJob request.

Written by scripts/generate-models from botocore 1.44.8; do not edit.
"""

from typing import Annotated, Literal

from smlocal.sagemaker.contract.model import request, shapes
from smlocal.terms.model.structure import Items, OrHere, Structure, Text, Whole

# ruff: noqa: D101 - each is the service's structure of that name

_String = Annotated[str, Text()]
_AppManaged = bool
_ProcessingLocalPath = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
_ProcessingS3DataType = Literal["ManifestFile", "S3Prefix"]
_ProcessingS3InputMode = Literal["Pipe", "File"]
_ProcessingS3DataDistributionType = Literal["FullyReplicated", "ShardedByS3Key"]
_ProcessingS3CompressionType = Literal["None", "Gzip"]
_AthenaCatalog = Annotated[
    str, Text(minimum=1, maximum=256, pattern="[\\u0020-\\uD7FF\\uE000-\\uFFFD\\uD800\\uDC00-\\uDBFF\\uDFFF\\t]*")
]
_AthenaDatabase = Annotated[str, Text(minimum=1, maximum=255, pattern=".*")]
_AthenaQueryString = Annotated[str, Text(minimum=1, maximum=4096, pattern="[\\s\\S]+")]
_AthenaWorkGroup = Annotated[str, Text(minimum=1, maximum=128, pattern="[a-zA-Z0-9._-]+")]
_AthenaResultFormat = Literal["PARQUET", "ORC", "AVRO", "JSON", "TEXTFILE"]
_AthenaResultCompressionType = Literal["GZIP", "SNAPPY", "ZLIB"]
_RedshiftClusterId = Annotated[str, Text(minimum=1, maximum=63, pattern=".*")]
_RedshiftDatabase = Annotated[str, Text(minimum=1, maximum=64, pattern=".*")]
_RedshiftUserName = Annotated[str, Text(minimum=1, maximum=128, pattern=".*")]
_RedshiftQueryString = Annotated[str, Text(minimum=1, maximum=4096, pattern="[\\s\\S]+")]
_RedshiftResultFormat = Literal["PARQUET", "CSV"]
_RedshiftResultCompressionType = Literal["None", "GZIP", "BZIP2", "ZSTD", "SNAPPY"]
_DataDistributionType = Literal["FullyReplicated", "ShardedByS3Key"]
_InputMode = Literal["Pipe", "File"]
_ProcessingS3UploadMode = Literal["Continuous", "EndOfJob"]
_FeatureGroupName = Annotated[str, Text(minimum=1, maximum=64, pattern="[a-zA-Z0-9]([_-]*[a-zA-Z0-9]){0,63}")]
_ProcessingJobName = Annotated[str, Text(minimum=1, maximum=63, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")]
_ProcessingInstanceCount = Annotated[int, Whole(minimum=1, maximum=100)]
_ProcessingInstanceType = Annotated[shapes.ProcessingInstanceType, OrHere(words=("local", "local_gpu"))]
_ProcessingVolumeSizeInGB = Annotated[int, Whole(minimum=1, maximum=16384)]
_ProcessingMaxRuntimeInSeconds = Annotated[int, Whole(minimum=1, maximum=777600)]
_ImageUri = Annotated[str, Text(minimum=0, maximum=255, pattern=".*")]
_ContainerEntrypointString = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
_ContainerEntrypoint = Annotated[list[_ContainerEntrypointString], Items(minimum=1, maximum=100)]
_ContainerArgument = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
_ContainerArguments = Annotated[list[_ContainerArgument], Items(minimum=1, maximum=100)]
_ProcessingEnvironmentKey = Annotated[str, Text(minimum=0, maximum=256, pattern="[a-zA-Z_][a-zA-Z0-9_]*")]
_ProcessingEnvironmentValue = Annotated[str, Text(minimum=0, maximum=256, pattern="[\\S\\s]*")]
_ProcessingEnvironmentMap = Annotated[
    dict[_ProcessingEnvironmentKey, _ProcessingEnvironmentValue], Items(minimum=0, maximum=100)
]


class ProcessingS3Input(Structure):
    S3Uri: shapes.S3Uri
    LocalPath: _ProcessingLocalPath | None = None
    S3DataType: _ProcessingS3DataType | None = None
    S3InputMode: _ProcessingS3InputMode | None = None
    S3DataDistributionType: _ProcessingS3DataDistributionType | None = None
    S3CompressionType: _ProcessingS3CompressionType | None = None


_ProcessingS3Input = ProcessingS3Input


class AthenaDatasetDefinition(Structure):
    Catalog: _AthenaCatalog
    Database: _AthenaDatabase
    QueryString: _AthenaQueryString
    WorkGroup: _AthenaWorkGroup | None = None
    OutputS3Uri: shapes.S3Uri
    KmsKeyId: shapes.KmsKeyId | None = None
    OutputFormat: _AthenaResultFormat
    OutputCompression: _AthenaResultCompressionType | None = None


_AthenaDatasetDefinition = AthenaDatasetDefinition


class RedshiftDatasetDefinition(Structure):
    ClusterId: _RedshiftClusterId
    Database: _RedshiftDatabase
    DbUser: _RedshiftUserName
    QueryString: _RedshiftQueryString
    ClusterRoleArn: shapes.RoleArn
    OutputS3Uri: shapes.S3Uri
    KmsKeyId: shapes.KmsKeyId | None = None
    OutputFormat: _RedshiftResultFormat
    OutputCompression: _RedshiftResultCompressionType | None = None


_RedshiftDatasetDefinition = RedshiftDatasetDefinition


class DatasetDefinition(Structure):
    AthenaDatasetDefinition: _AthenaDatasetDefinition | None = None
    RedshiftDatasetDefinition: _RedshiftDatasetDefinition | None = None
    LocalPath: _ProcessingLocalPath | None = None
    DataDistributionType: _DataDistributionType | None = None
    InputMode: _InputMode | None = None


_DatasetDefinition = DatasetDefinition


class ProcessingInput(Structure):
    InputName: _String
    AppManaged: _AppManaged | None = None
    S3Input: _ProcessingS3Input | None = None
    DatasetDefinition: _DatasetDefinition | None = None


_ProcessingInput = ProcessingInput


class ProcessingS3Output(Structure):
    S3Uri: shapes.S3Uri
    LocalPath: _ProcessingLocalPath | None = None
    S3UploadMode: _ProcessingS3UploadMode | None = None


_ProcessingS3Output = ProcessingS3Output


class ProcessingFeatureStoreOutput(Structure):
    FeatureGroupName: _FeatureGroupName


_ProcessingFeatureStoreOutput = ProcessingFeatureStoreOutput


class ProcessingOutput(Structure):
    OutputName: _String
    S3Output: _ProcessingS3Output | None = None
    FeatureStoreOutput: _ProcessingFeatureStoreOutput | None = None
    AppManaged: _AppManaged | None = None


_ProcessingOutput = ProcessingOutput


class ProcessingOutputConfig(Structure):
    Outputs: Annotated[list[_ProcessingOutput], Items(minimum=0, maximum=10)]
    KmsKeyId: shapes.KmsKeyId | None = None


_ProcessingOutputConfig = ProcessingOutputConfig


class ProcessingInstancePreference(Structure):
    InstanceType: _ProcessingInstanceType
    InstanceCount: _ProcessingInstanceCount | None = None


_ProcessingInstancePreference = ProcessingInstancePreference


class ProcessingClusterConfig(Structure):
    InstanceCount: _ProcessingInstanceCount | None = None
    InstanceType: _ProcessingInstanceType | None = None
    VolumeSizeInGB: _ProcessingVolumeSizeInGB | None = None
    VolumeKmsKeyId: shapes.KmsKeyId | None = None
    InstancePreferences: Annotated[list[_ProcessingInstancePreference], Items(minimum=1, maximum=5)] | None = None
    SelectedInstanceType: _ProcessingInstanceType | None = None
    SelectedInstanceCount: _ProcessingInstanceCount | None = None


_ProcessingClusterConfig = ProcessingClusterConfig


class ProcessingResources(Structure):
    ClusterConfig: _ProcessingClusterConfig | None = None


_ProcessingResources = ProcessingResources


class ProcessingStoppingCondition(Structure):
    MaxRuntimeInSeconds: _ProcessingMaxRuntimeInSeconds


_ProcessingStoppingCondition = ProcessingStoppingCondition


class AppSpecification(Structure):
    ImageUri: _ImageUri
    ContainerEntrypoint: _ContainerEntrypoint | None = None
    ContainerArguments: _ContainerArguments | None = None


_AppSpecification = AppSpecification


class NetworkConfig(Structure):
    EnableInterContainerTrafficEncryption: shapes.Boolean | None = None
    EnableNetworkIsolation: shapes.Boolean | None = None
    VpcConfig: request.VpcConfig | None = None


_NetworkConfig = NetworkConfig


class CreateProcessingJobRequest(Structure):
    ProcessingInputs: Annotated[list[_ProcessingInput], Items(minimum=0, maximum=10)] | None = None
    ProcessingOutputConfig: _ProcessingOutputConfig | None = None
    ProcessingJobName: _ProcessingJobName | None = None
    ProcessingResources: _ProcessingResources | None = None
    StoppingCondition: _ProcessingStoppingCondition | None = None
    AppSpecification: _AppSpecification
    Environment: _ProcessingEnvironmentMap | None = None
    NetworkConfig: _NetworkConfig | None = None
    RoleArn: shapes.RoleArn | None = None
    Tags: Annotated[list[request.Tag], Items(minimum=0, maximum=50)] | None = None
    ExperimentConfig: request.ExperimentConfig | None = None


_CreateProcessingJobRequest = CreateProcessingJobRequest
