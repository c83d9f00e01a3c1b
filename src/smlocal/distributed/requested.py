"""Whether a job gets the stand-in for SageMaker's data parallel library, and with which settings."""

import json
from collections.abc import Mapping
from typing import Any, Final

from smlocal.contract.model.request import CreateTrainingJobRequest
from smlocal.jobfile.local_settings import LocalSettings
from smlocal.quick_dataclass import dataclass

ENABLED: Final = "sagemaker_distributed_dataparallel_enabled"
"""The hyperparameter that asks for the library."""
DDP_ENABLED: Final = "sagemaker_pytorch_ddp_enabled"
"""The hyperparameter that asks the toolkit for PyTorch's own data parallelism, with the launcher of the library."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DataParallelPlan:
    """The stand-in, as the containers of one job get it."""

    mode: str = "plain"
    """`plain`: PyTorch's own reductions; `balanced`: by servers that have equal parts of a buffer."""
    fusion_buffer_bytes: int | None = None
    """None: what the script says."""
    strict: bool = False
    """True to refuse what the library refuses."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the stand-in reads in the container."""
        return {"Mode": self.mode, "FusionBufferBytes": self.fusion_buffer_bytes, "Strict": self.strict}


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
