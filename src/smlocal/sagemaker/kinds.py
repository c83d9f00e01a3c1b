"""The kinds of jobs of SageMaker, as documents describe them.

A document is of the first kind in `KINDS` that recognises it. Another kind is a row here and its folder.
"""

from typing import TYPE_CHECKING, Final, cast

from smlocal.errors import IsAProcessingJobError, IsATransformJobError
from smlocal.errors.of_jobs import IsAnEndpointError, IsAPipelineError, IsATuningJobError
from smlocal.jobs.kind import Kind, keys
from smlocal.sagemaker.training.facts import NAME

if TYPE_CHECKING:
    from smlocal.sagemaker.jobfile.request_reading import SharedReading

_ALGORITHM: Final = frozenset({"AlgorithmSpecification"})
"""Whatever else it has, a request with it is about training."""
PROCESSING: Final = Kind(
    name="sagemaker_processing",
    spoken="processing job",
    word="processing",
    file="processing.yaml",
    requests=("CreateProcessingJob",),
    sign="AppSpecification",
    describes=keys("AppSpecification", "ProcessingResources", "ProcessingInputs", "ProcessingOutputConfig"),
    reading="smlocal.sagemaker.processing.job_file",
    stem="ProcessingJob",
    log_group="/aws/sagemaker/ProcessingJobs",
    has_workload=True,
    refusal=IsAProcessingJobError,
)
TRANSFORM: Final = Kind(
    name="sagemaker_transform",
    spoken="transform job",
    word="transform",
    file="transform.yaml",
    requests=("CreateTransformJob",),
    sign="TransformInput",
    describes=keys("TransformInput", unless=_ALGORITHM),
    reading="smlocal.sagemaker.transform.transform_file",
    stem="TransformJob",
    log_group="/aws/sagemaker/TransformJobs",
    refusal=IsATransformJobError,
    on_service="aws sagemaker create-model, then create-transform-job with its ModelName and s3:// locations",
)
TUNING: Final = Kind(
    name="sagemaker_tuning",
    spoken="tuning job",
    word="tuning",
    file="tuning.yaml",
    requests=("CreateHyperParameterTuningJob",),
    sign="HyperParameterTuningJobConfig",
    describes=keys("HyperParameterTuningJobConfig"),
    reading="smlocal.sagemaker.tuning.tuning_file",
    stem="HyperParameterTuningJob",
    leaves_model=True,
    refusal=IsATuningJobError,
)
ENDPOINT: Final = Kind(
    name="sagemaker_hosting",
    spoken="endpoint",
    word="endpoint",
    file="model.yaml",
    requests=("CreateModel", "CreateEndpointConfig", "CreateEndpoint"),
    started_by="deploy",
    sign="PrimaryContainer",
    describes=keys(
        *("PrimaryContainer", "Containers", "Models", "ProductionVariants", "EndpointConfigName"), unless=_ALGORITHM
    ),
    reading="smlocal.sagemaker.serving.model_file",
    stem="Endpoint",
    refusal=IsAnEndpointError,
    on_service="aws sagemaker create-model, create-endpoint-config and create-endpoint, each with its members of FILE",
)
PIPELINE: Final = Kind(
    name="sagemaker_pipeline",
    spoken="pipeline",
    word="pipeline",
    file="pipeline.yaml",
    requests=("CreatePipeline",),
    sign="Steps",
    describes=keys("Steps", "PipelineDefinition", "PipelineDefinitionS3Location", unless=_ALGORITHM),
    reading="smlocal.pipelines.job_file",
    stem="PipelineExecution",
    refusal=IsAPipelineError,
)
TRAINING: Final = Kind(
    name=NAME,
    spoken="training job",
    word="training",
    file="job.yaml",
    requests=("CreateTrainingJob",),
    sign="AlgorithmSpecification",
    describes=lambda _: True,
    reading="smlocal.sagemaker.jobfile.job_file",
    stem="TrainingJob",
    log_group="/aws/sagemaker/TrainingJobs",
    has_workload=True,
    leaves_model=True,
)
KINDS: Final = (PROCESSING, TRANSFORM, TUNING, ENDPOINT, PIPELINE)
"""Training jobs come last of all kinds: theirs is what nothing else recognises."""


def request_reading(kind: Kind) -> "SharedReading":
    """What reads the requests of a kind of SageMaker."""
    return cast("SharedReading", kind.reads)
