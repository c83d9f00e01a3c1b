"""Whether a job gets the stand-in for SageMaker's data parallel library, and with which settings."""

import json
from typing import Any, Final

from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.data_parallel.plan import DataParallelPlan
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest

ENABLED: Final = "sagemaker_distributed_dataparallel_enabled"
"""The hyperparameter that asks for the library."""
DDP_ENABLED: Final = "sagemaker_pytorch_ddp_enabled"
"""The hyperparameter that asks the toolkit for PyTorch's own data parallelism, with the launcher of the library."""


def asks_for_library(request: CreateTrainingJobRequest) -> bool:
    """True if the toolkit will start the script with the library, or with its launcher."""
    return any(_is_true(request, name) for name in (ENABLED, DDP_ENABLED))


def asks_for_data_parallel(request: CreateTrainingJobRequest) -> bool:
    """True if the toolkit will start the script with the library."""
    return _is_true(request, ENABLED)


def hyperparameter(request: CreateTrainingJobRequest, name: str) -> Any:
    """A hyperparameter as the toolkit reads it: JSON, or else text. None if it is missing."""
    text = (request.HyperParameters or {}).get(name)
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def data_parallel_of(request: CreateTrainingJobRequest, local: LocalSettings) -> DataParallelPlan | None:
    """None if the containers do not get the stand-in."""
    choice = local.DataParallel
    if isinstance(choice, dict):
        return DataParallelPlan(mode=choice.get("Mode", "plain"), fusion_buffer_bytes=choice.get("FusionBufferBytes"))
    if choice == "never" or (choice == "auto" and not asks_for_library(request)):
        return None
    return DataParallelPlan(strict=choice == "strict")


def _is_true(request: CreateTrainingJobRequest, name: str) -> bool:
    return bool(hyperparameter(request, name))
