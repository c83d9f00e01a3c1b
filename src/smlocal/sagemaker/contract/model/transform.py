"""The CreateTransformJob request.

Written by scripts/generate-models from botocore 1.44.5; do not edit.
"""

from typing import Annotated

from smlocal.jobs.contract.model.structure import Items, Structure
from smlocal.sagemaker.contract.model import request, shapes, transform_shapes

# ruff: noqa: D101 - each is the service's structure of that name


class ModelClientConfig(Structure):
    InvocationsTimeoutInSeconds: transform_shapes.InvocationsTimeoutInSeconds | None = None
    InvocationsMaxRetries: transform_shapes.InvocationsMaxRetries | None = None


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
    SplitType: transform_shapes.SplitType | None = None


_TransformInput = TransformInput


class TransformOutput(Structure):
    S3OutputPath: shapes.S3Uri
    Accept: transform_shapes.Accept | None = None
    AssembleWith: transform_shapes.AssemblyType | None = None
    KmsKeyId: shapes.KmsKeyId | None = None


_TransformOutput = TransformOutput


class BatchDataCaptureConfig(Structure):
    DestinationS3Uri: shapes.S3Uri
    KmsKeyId: shapes.KmsKeyId | None = None
    GenerateInferenceId: shapes.Boolean | None = None


_BatchDataCaptureConfig = BatchDataCaptureConfig


class TransformResources(Structure):
    InstanceType: transform_shapes.TransformInstanceType
    InstanceCount: transform_shapes.TransformInstanceCount
    VolumeKmsKeyId: shapes.KmsKeyId | None = None
    TransformAmiVersion: transform_shapes.TransformAmiVersion | None = None


_TransformResources = TransformResources


class DataProcessing(Structure):
    InputFilter: transform_shapes.JsonPath | None = None
    OutputFilter: transform_shapes.JsonPath | None = None
    JoinSource: transform_shapes.JoinSource | None = None


_DataProcessing = DataProcessing


class CreateTransformJobRequest(Structure):
    TransformJobName: transform_shapes.TransformJobName | None = None
    ModelName: transform_shapes.ModelName | None = None
    MaxConcurrentTransforms: transform_shapes.MaxConcurrentTransforms | None = None
    ModelClientConfig: _ModelClientConfig | None = None
    MaxPayloadInMB: transform_shapes.MaxPayloadInMB | None = None
    BatchStrategy: transform_shapes.BatchStrategy | None = None
    Environment: transform_shapes.TransformEnvironmentMap | None = None
    TransformInput: _TransformInput
    TransformOutput: _TransformOutput
    DataCaptureConfig: _BatchDataCaptureConfig | None = None
    TransformResources: _TransformResources | None = None
    DataProcessing: _DataProcessing | None = None
    Tags: Annotated[list[request.Tag], Items(minimum=0, maximum=50)] | None = None
    ExperimentConfig: request.ExperimentConfig | None = None


_CreateTransformJobRequest = CreateTransformJobRequest
