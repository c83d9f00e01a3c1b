"""The CreateTransformJob request.

Written by scripts/generate-models from botocore 1.44.8; do not edit.
"""

from typing import Annotated, Literal

from smlocal.sagemaker.contract.model import request, shapes
from smlocal.terms.model.structure import Items, OrHere, Structure, Text, Whole

# ruff: noqa: D101 - each is the service's structure of that name

_TransformJobName = Annotated[str, Text(minimum=1, maximum=63, pattern="[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")]
_ModelName = Annotated[str, Text(minimum=0, maximum=63, pattern="[a-zA-Z0-9]([\\-a-zA-Z0-9]*[a-zA-Z0-9])?")]
_MaxConcurrentTransforms = Annotated[int, Whole(minimum=0)]
_InvocationsTimeoutInSeconds = Annotated[int, Whole(minimum=1, maximum=3600)]
_InvocationsMaxRetries = Annotated[int, Whole(minimum=0, maximum=3)]
_MaxPayloadInMB = Annotated[int, Whole(minimum=0)]
_BatchStrategy = Literal["MultiRecord", "SingleRecord"]
_TransformEnvironmentKey = Annotated[str, Text(minimum=0, maximum=1024, pattern="[a-zA-Z_][a-zA-Z0-9_]{0,1023}")]
_TransformEnvironmentValue = Annotated[str, Text(minimum=0, maximum=10240, pattern="[\\S\\s]*")]
_TransformEnvironmentMap = Annotated[
    dict[_TransformEnvironmentKey, _TransformEnvironmentValue], Items(minimum=0, maximum=16)
]
_SplitType = Literal["None", "Line", "RecordIO", "TFRecord"]
_Accept = Annotated[str, Text(minimum=0, maximum=256, pattern=".*")]
_AssemblyType = Literal["None", "Line"]
_TransformInstanceType = Annotated[
    Literal[
        "ml.m4.xlarge",
        "ml.m4.2xlarge",
        "ml.m4.4xlarge",
        "ml.m4.10xlarge",
        "ml.m4.16xlarge",
        "ml.c4.xlarge",
        "ml.c4.2xlarge",
        "ml.c4.4xlarge",
        "ml.c4.8xlarge",
        "ml.p2.xlarge",
        "ml.p2.8xlarge",
        "ml.p2.16xlarge",
        "ml.p3.2xlarge",
        "ml.p3.8xlarge",
        "ml.p3.16xlarge",
        "ml.c5.xlarge",
        "ml.c5.2xlarge",
        "ml.c5.4xlarge",
        "ml.c5.9xlarge",
        "ml.c5.18xlarge",
        "ml.m5.large",
        "ml.m5.xlarge",
        "ml.m5.2xlarge",
        "ml.m5.4xlarge",
        "ml.m5.12xlarge",
        "ml.m5.24xlarge",
        "ml.m6i.large",
        "ml.m6i.xlarge",
        "ml.m6i.2xlarge",
        "ml.m6i.4xlarge",
        "ml.m6i.8xlarge",
        "ml.m6i.12xlarge",
        "ml.m6i.16xlarge",
        "ml.m6i.24xlarge",
        "ml.m6i.32xlarge",
        "ml.c6i.large",
        "ml.c6i.xlarge",
        "ml.c6i.2xlarge",
        "ml.c6i.4xlarge",
        "ml.c6i.8xlarge",
        "ml.c6i.12xlarge",
        "ml.c6i.16xlarge",
        "ml.c6i.24xlarge",
        "ml.c6i.32xlarge",
        "ml.r6i.large",
        "ml.r6i.xlarge",
        "ml.r6i.2xlarge",
        "ml.r6i.4xlarge",
        "ml.r6i.8xlarge",
        "ml.r6i.12xlarge",
        "ml.r6i.16xlarge",
        "ml.r6i.24xlarge",
        "ml.r6i.32xlarge",
        "ml.m7i.large",
        "ml.m7i.xlarge",
        "ml.m7i.2xlarge",
        "ml.m7i.4xlarge",
        "ml.m7i.8xlarge",
        "ml.m7i.12xlarge",
        "ml.m7i.16xlarge",
        "ml.m7i.24xlarge",
        "ml.m7i.48xlarge",
        "ml.c7i.large",
        "ml.c7i.xlarge",
        "ml.c7i.2xlarge",
        "ml.c7i.4xlarge",
        "ml.c7i.8xlarge",
        "ml.c7i.12xlarge",
        "ml.c7i.16xlarge",
        "ml.c7i.24xlarge",
        "ml.c7i.48xlarge",
        "ml.r7i.large",
        "ml.r7i.xlarge",
        "ml.r7i.2xlarge",
        "ml.r7i.4xlarge",
        "ml.r7i.8xlarge",
        "ml.r7i.12xlarge",
        "ml.r7i.16xlarge",
        "ml.r7i.24xlarge",
        "ml.r7i.48xlarge",
        "ml.g4dn.xlarge",
        "ml.g4dn.2xlarge",
        "ml.g4dn.4xlarge",
        "ml.g4dn.8xlarge",
        "ml.g4dn.12xlarge",
        "ml.g4dn.16xlarge",
        "ml.g5.xlarge",
        "ml.g5.2xlarge",
        "ml.g5.4xlarge",
        "ml.g5.8xlarge",
        "ml.g5.12xlarge",
        "ml.g5.16xlarge",
        "ml.g5.24xlarge",
        "ml.g5.48xlarge",
        "ml.trn1.2xlarge",
        "ml.trn1.32xlarge",
        "ml.inf2.xlarge",
        "ml.inf2.8xlarge",
        "ml.inf2.24xlarge",
        "ml.inf2.48xlarge",
        "ml.g6.xlarge",
        "ml.g6.2xlarge",
        "ml.g6.4xlarge",
        "ml.g6.8xlarge",
        "ml.g6.12xlarge",
        "ml.g6.16xlarge",
        "ml.g6.24xlarge",
        "ml.g6.48xlarge",
        "ml.g6e.xlarge",
        "ml.g6e.2xlarge",
        "ml.g6e.4xlarge",
        "ml.g6e.8xlarge",
        "ml.g6e.12xlarge",
        "ml.g6e.16xlarge",
        "ml.g6e.24xlarge",
        "ml.g6e.48xlarge",
    ],
    OrHere(words=("local", "local_gpu")),
]
_TransformInstanceCount = Annotated[int, Whole(minimum=1)]
_TransformAmiVersion = Annotated[str, Text(minimum=1, maximum=63, pattern="[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*")]
_JsonPath = Annotated[str, Text(minimum=0, maximum=63)]
_JoinSource = Literal["Input", "None"]


class ModelClientConfig(Structure):
    InvocationsTimeoutInSeconds: _InvocationsTimeoutInSeconds | None = None
    InvocationsMaxRetries: _InvocationsMaxRetries | None = None


_ModelClientConfig = ModelClientConfig


class TransformS3DataSource(Structure):
    S3DataType: shapes.S3DataType
    S3Uri: shapes.S3Uri


_TransformS3DataSource = TransformS3DataSource


class TransformDataSource(Structure):
    S3DataSource: _TransformS3DataSource


_TransformDataSource = TransformDataSource


class TransformInput(Structure):
    DataSource: _TransformDataSource
    ContentType: shapes.ContentType | None = None
    CompressionType: shapes.CompressionType | None = None
    SplitType: _SplitType | None = None


_TransformInput = TransformInput


class TransformOutput(Structure):
    S3OutputPath: shapes.S3Uri
    Accept: _Accept | None = None
    AssembleWith: _AssemblyType | None = None
    KmsKeyId: shapes.KmsKeyId | None = None


_TransformOutput = TransformOutput


class BatchDataCaptureConfig(Structure):
    DestinationS3Uri: shapes.S3Uri
    KmsKeyId: shapes.KmsKeyId | None = None
    GenerateInferenceId: shapes.Boolean | None = None


_BatchDataCaptureConfig = BatchDataCaptureConfig


class TransformResources(Structure):
    InstanceType: _TransformInstanceType
    InstanceCount: _TransformInstanceCount
    VolumeKmsKeyId: shapes.KmsKeyId | None = None
    TransformAmiVersion: _TransformAmiVersion | None = None


_TransformResources = TransformResources


class DataProcessing(Structure):
    InputFilter: _JsonPath | None = None
    OutputFilter: _JsonPath | None = None
    JoinSource: _JoinSource | None = None


_DataProcessing = DataProcessing


class CreateTransformJobRequest(Structure):
    TransformJobName: _TransformJobName | None = None
    ModelName: _ModelName | None = None
    MaxConcurrentTransforms: _MaxConcurrentTransforms | None = None
    ModelClientConfig: _ModelClientConfig | None = None
    MaxPayloadInMB: _MaxPayloadInMB | None = None
    BatchStrategy: _BatchStrategy | None = None
    Environment: _TransformEnvironmentMap | None = None
    TransformInput: _TransformInput
    TransformOutput: _TransformOutput
    DataCaptureConfig: _BatchDataCaptureConfig | None = None
    TransformResources: _TransformResources | None = None
    DataProcessing: _DataProcessing | None = None
    Tags: Annotated[list[request.Tag], Items(minimum=0, maximum=50)] | None = None
    ExperimentConfig: request.ExperimentConfig | None = None


_CreateTransformJobRequest = CreateTransformJobRequest
