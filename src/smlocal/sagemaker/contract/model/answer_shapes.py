"""Strings, numbers, lists and maps that only DescribeTrainingJob has.

Written by scripts/generate-models from botocore 1.44.5; do not edit.
"""

from typing import Annotated, Literal

from smlocal.jobs.contract.model.structure import Text, Whole

TrainingJobArn = Annotated[
    str,
    Text(
        minimum=0,
        maximum=256,
        pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:training-job/[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}",
    ),
]
HyperParameterTuningJobArn = Annotated[
    str,
    Text(
        minimum=0,
        maximum=256,
        pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:hyper-parameter-tuning-job/.*",
    ),
]
LabelingJobArn = Annotated[
    str, Text(minimum=0, maximum=2048, pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:labeling-job/.*")
]
AutoMLJobArn = Annotated[
    str, Text(minimum=1, maximum=256, pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:automl-job/.*")
]
TrainingJobStatus = Literal["InProgress", "Completed", "Failed", "Stopping", "Stopped", "Deleting"]
SecondaryStatus = Literal[
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
FailureReason = Annotated[str, Text(minimum=0, maximum=1024)]
WarmPoolResourceStatus = Literal["Available", "Terminated", "Reused", "InUse"]
ResourceRetainedBillableTimeInSeconds = Annotated[int, Whole(minimum=0)]
Timestamp = float
StatusMessage = Annotated[str, Text()]
Float = float
TrainingTimeInSeconds = Annotated[int, Whole(minimum=1)]
BillableTimeInSeconds = Annotated[int, Whole(minimum=1)]
BillableTokenCount = Annotated[int, Whole(minimum=0, long=True)]
ProcessingJobArn = Annotated[
    str,
    Text(
        minimum=0,
        maximum=256,
        pattern="arn:aws[a-z\\-]*:sagemaker:[a-z0-9\\-]*:[0-9]{12}:processing-job/[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}",
    ),
]
RuleEvaluationStatus = Literal["InProgress", "NoIssuesFound", "IssuesFound", "Error", "Stopping", "Stopped"]
StatusDetails = Annotated[str, Text(minimum=0, maximum=1024, pattern=".*")]
ProfilingStatus = Literal["Enabled", "Disabled"]
MlflowExperimentId = Annotated[str, Text(minimum=1, maximum=256, pattern=".*")]
MlflowRunId = Annotated[str, Text(minimum=1, maximum=256, pattern=".*")]
TotalStepCountPerEpoch = Annotated[int, Whole(minimum=0, long=True)]
TrainingStepIndex = Annotated[int, Whole(minimum=0, long=True)]
TrainingEpochIndex = Annotated[int, Whole(minimum=0, long=True)]
TrainingEpochCount = Annotated[int, Whole(minimum=0, long=True)]
