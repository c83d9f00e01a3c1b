"""Requests of jobs, for definitions that are about something else."""

TRAINING = (
    "{AlgorithmSpecification: {TrainingImage: i, TrainingInputMode: File}, RoleArn: 'arn:aws:iam::123456789012:role/r',"
    " OutputDataConfig: {S3OutputPath: 's3://b/o'}, StoppingCondition: {MaxRuntimeInSeconds: 60},"
    " ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1, VolumeSizeInGB: 1}}"
)
_PROCESSING = (
    "AppSpecification: {ImageUri: i}, RoleArn: 'arn:aws:iam::123456789012:role/r', ProcessingResources:"
    " {ClusterConfig: {InstanceType: ml.m5.large, InstanceCount: 1, VolumeSizeInGB: 1}}"
)
_OUTPUT = (
    "ProcessingOutputConfig: {Outputs: [{OutputName: metrics, S3Output: {S3Uri: 's3://b/m',"
    " LocalPath: /opt/ml/processing/m, S3UploadMode: EndOfJob}}]}"
)


def with_requests(text: str) -> str:
    """The text with a request in place of its name."""
    text = text.replace("Arguments: TRAINING", f"Arguments: {TRAINING}")
    text = text.replace("Arguments: WRITES", f"Arguments: {{{_PROCESSING}, {_OUTPUT}}}")
    return text.replace("Arguments: PROCESSING", f"Arguments: {{{_PROCESSING}}}")
