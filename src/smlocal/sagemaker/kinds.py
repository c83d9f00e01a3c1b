"""The kinds of jobs of SageMaker, as documents describe them.

A document is of the first kind in `KINDS` that recognises it. Another kind is a row here and its folder.
"""

from typing import TYPE_CHECKING, Final, cast

from smlocal.errors import IsAProcessingJobError, IsATransformJobError
from smlocal.errors.of_jobs import IsAnEndpointError, IsATuningJobError
from smlocal.jobs.kind import Kind, keys
from smlocal.sagemaker.training.facts import NAME

if TYPE_CHECKING:
    from smlocal.sagemaker.jobfile.request_reading import SharedReading

_ALGORITHM: Final = frozenset({"AlgorithmSpecification"})
"""Whatever else it has, a request with it is about training."""
PROCESSING: Final = Kind(
    name="sagemaker_processing",
    spoken="processing job",
    sign="AppSpecification",
    describes=keys("AppSpecification", "ProcessingResources", "ProcessingInputs", "ProcessingOutputConfig"),
    reading="smlocal.sagemaker.processing.job_file",
    stem="ProcessingJob",
    log_group="/aws/sagemaker/ProcessingJobs",
    has_workload=True,
    refusal=IsAProcessingJobError,
    remedies=("Run it here: smlocal run FILE", "On the service: smlocal submit FILE --upload-to s3://bucket/prefix"),
)
TRANSFORM: Final = Kind(
    name="sagemaker_transform",
    spoken="transform job",
    sign="TransformInput",
    describes=keys("TransformInput", unless=_ALGORITHM),
    reading="smlocal.sagemaker.transform.transform_file",
    stem="TransformJob",
    log_group="/aws/sagemaker/TransformJobs",
    refusal=IsATransformJobError,
    remedies=("Run it: smlocal run FILE",),
)
TUNING: Final = Kind(
    name="sagemaker_tuning",
    spoken="tuning job",
    sign="HyperParameterTuningJobConfig",
    describes=keys("HyperParameterTuningJobConfig"),
    reading="smlocal.sagemaker.tuning.tuning_file",
    stem="HyperParameterTuningJob",
    refusal=IsATuningJobError,
    remedies=("A tuning job runs here with: smlocal run FILE",),
)
ENDPOINT: Final = Kind(
    name="sagemaker_hosting",
    spoken="endpoint",
    sign="PrimaryContainer",
    describes=keys(
        *("PrimaryContainer", "Containers", "Models", "ProductionVariants", "EndpointConfigName"), unless=_ALGORITHM
    ),
    reading="smlocal.sagemaker.serving.model_file",
    stem="Endpoint",
    refusal=IsAnEndpointError,
    remedies=("Deploy it: smlocal deploy FILE",),
)
TRAINING: Final = Kind(
    name=NAME,
    spoken="training job",
    sign="AlgorithmSpecification",
    describes=lambda _: True,
    reading="smlocal.sagemaker.jobfile.job_file",
    stem="TrainingJob",
    log_group="/aws/sagemaker/TrainingJobs",
    has_workload=True,
)
KINDS: Final = (PROCESSING, TRANSFORM, TUNING, ENDPOINT)
"""Training jobs come last of all kinds: theirs is what nothing else recognises."""


def request_reading(kind: Kind) -> "SharedReading":
    """What reads the requests of a kind of SageMaker."""
    return cast("SharedReading", kind.reads)
