"""The requests whose members and schemas commands show, without what is known about them, which takes time to load."""

from typing import Final

TRAINING: Final = "CreateTrainingJob"
OF_SAGEMAKER: Final = (
    *(TRAINING, "CreateModel", "CreateEndpointConfig", "CreateEndpoint", "CreateProcessingJob", "CreateTransformJob"),
    "CreateHyperParameterTuningJob",
)
REQUESTS: Final = (*OF_SAGEMAKER, "Job", "CustomJob")
TRAINING_WORD: Final = "training"
KIND_WORDS: Final = (TRAINING_WORD, "processing", "tuning", "transform", "endpoint")
"""The words for the kinds whose files are written."""
