"""Where the models deliberately accept more than the service, with the reasons. Nothing else may differ."""

from typing import Final

OPTIONAL_HERE: Final = {
    "CreateTrainingJobRequest.TrainingJobName": "the default is the file name and the time",
    "CreateTrainingJobRequest.RoleArn": "no role is assumed on this machine",
}
"""Members that the service requires and a local job may leave out; `--strict` requires them."""

PATHS_HERE: Final = {
    "S3Uri": "data on this machine is given by its path or a file:// URI",
}
"""Shapes that may be a local path instead of matching the pattern; not with `--strict`."""

WORDS_HERE: Final = {
    "TrainingInstanceType": ("local", "local_gpu"),
}
"""Enumerations with additional words for this machine, as in the SDK's local mode; not with `--strict`."""
PATH_KEYS_HERE = {"RuleParameters": "source_s3_uri|other_trial_[0-9]{1,3}"}
"""Maps of text in which the values of these keys are locations, and may be local paths here."""

HOSTING_OPTIONAL_HERE: Final = {
    "CreateModelInput.ModelName": "the endpoint's name names the model too",
    "CreateEndpointConfigInput.EndpointConfigName": "as above",
    "CreateEndpointConfigInput.ProductionVariants": "the default is one variant on this machine",
    "CreateEndpointInput.EndpointName": "the default is the file name and the time",
    "CreateEndpointInput.EndpointConfigName": "as above",
    "ProductionVariant.VariantName": "the default is AllTraffic, as in the SDK",
}
"""The same of the requests that make an endpoint."""
HOSTING_PATHS_HERE: Final = {
    "Url": "a model on this machine is given by its path or a file:// URI",
    "S3ModelUri": "as above",
}
"""Their shapes that may be a local path."""
HOSTING_WORDS_HERE: Final = {"ProductionVariantInstanceType": ("local", "local_gpu")}
"""Their enumerations with additional words."""

PROCESSING_OPTIONAL_HERE: Final = {
    "CreateProcessingJobRequest.ProcessingJobName": "the default is the file name and the time",
    "CreateProcessingJobRequest.ProcessingResources": "the default is one host of this machine",
    "CreateProcessingJobRequest.RoleArn": "no role is assumed on this machine",
    "ProcessingClusterConfig.VolumeSizeInGB": "the disk is that of this machine",
    "ProcessingResources.ClusterConfig": "the default is one host of this machine",
    "ProcessingS3Input.S3DataType": "the default is S3Prefix",
    "ProcessingS3Output.S3UploadMode": "the default is EndOfJob",
}
"""The same of processing jobs."""
PROCESSING_WORDS_HERE: Final = {"ProcessingInstanceType": ("local", "local_gpu")}
"""Their enumerations with additional words."""

TRANSFORM_OPTIONAL_HERE: Final = {
    "CreateTransformJobRequest.TransformJobName": "the default is the file name and the time",
    "CreateTransformJobRequest.ModelName": "the file may have the model itself",
    "CreateTransformJobRequest.TransformResources": "the default is this machine",
}
"""The same of transform jobs."""
TRANSFORM_WORDS_HERE: Final = {"TransformInstanceType": ("local", "local_gpu")}
"""Their enumerations with additional words."""

TUNING_OPTIONAL_HERE: Final = {
    "CreateHyperParameterTuningJobRequest.HyperParameterTuningJobName": "the default is the file name and the time",
    "HyperParameterTrainingJobDefinition.RoleArn": "no role is assumed on this machine",
}
"""The same of the request that makes a tuning job."""
