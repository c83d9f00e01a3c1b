"""The requests whose members and schemas commands show, without what is known about them, which takes time to load."""

from typing import Final

TRAINING: Final = "CreateTrainingJob"
OF_SAGEMAKER: Final = (
    *(TRAINING, "CreateModel", "CreateEndpointConfig", "CreateEndpoint", "CreateProcessingJob", "CreateTransformJob"),
    *("CreateHyperParameterTuningJob", "CreatePipeline"),
)
REQUESTS: Final = (*OF_SAGEMAKER, "Job", "CustomJob")
TRAINING_WORD: Final = "training"
REQUESTS_OF: Final = {
    TRAINING_WORD: (TRAINING,),
    "processing": ("CreateProcessingJob",),
    "tuning": ("CreateHyperParameterTuningJob",),
    "transform": ("CreateTransformJob",),
    "endpoint": ("CreateModel", "CreateEndpointConfig", "CreateEndpoint"),
    "pipeline": ("CreatePipeline",),
}
"""The requests in files of each kind, by the word for it."""
KIND_WORDS: Final = (*REQUESTS_OF,)
NAMED: Final = (*REQUESTS, *KIND_WORDS)
"""The choices of `--of`."""


def requests_named(name: str) -> tuple[str, ...]:
    """The request with this name, or the requests of a kind."""
    return REQUESTS_OF.get(name, (name,))
