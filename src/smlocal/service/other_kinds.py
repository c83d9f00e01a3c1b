"""Documents of SageMaker that are not about training jobs, and what commands for training jobs do not do with them."""

from collections.abc import Mapping
from typing import Any, Final

from smlocal.errors.of_the_service import KindNotComparedError, KindNotReproducedError

_PROCESSING: Final = "a processing job"
_MEMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "an endpoint": ("EndpointName", "EndpointConfigName", "PrimaryContainer", "Containers", "ProductionVariants"),
    "a transform job": ("TransformJobName", "TransformInput"),
    _PROCESSING: ("ProcessingJobName", "ProcessingResources"),
    "a tuning job": ("HyperParameterTuningJobName", "HyperParameterTuningJobConfig"),
}
"""Members of requests and descriptions that those of training jobs do not have."""


def other_kind(document: Mapping[str, Any]) -> str | None:
    """The words for what a document is about; None if that may be a training job."""
    if "TrainingJobArn" in document or "AlgorithmSpecification" in document:
        return None
    return next((words for words, members in _MEMBERS.items() if not document.keys().isdisjoint(members)), None)


def refuse_to_compare(document: Mapping[str, Any], name: str) -> None:
    """Refuse what is not a training job."""
    kind = other_kind(document)
    if kind is not None:
        remedy = ["Compare the training jobs that made the models."] if kind == "an endpoint" else []
        raise KindNotComparedError(
            f"{name} is {kind}: smlocal compare knows only training jobs, by their requests, ends, metrics and "
            "artifacts",
            remedy=remedy,
        )


def refuse_to_reproduce(document: Mapping[str, Any], name: str) -> None:
    """Refuse what is neither a training job nor a processing job."""
    kind = other_kind(document)
    if kind is not None and kind != _PROCESSING:
        deployed = "Deploy its model here: smlocal deploy MODEL --image IMAGE, and compare the answers."
        remedy = [deployed] if kind == "an endpoint" else []
        raise KindNotReproducedError(
            f"{name} is {kind}: smlocal reproduce runs training jobs and processing jobs of the service, and compares "
            "how they end",
            remedy=remedy,
        )
