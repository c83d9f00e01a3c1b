"""The stand-in for the data parallel library, as it is planned."""

from collections.abc import Mapping
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass

PACKAGE: Final = "/opt/smlocal/distributed"
"""Read-only: `python/smdistributed`, `bin/smddprun`, and the job's settings."""
RECORDS: Final = "/opt/smlocal/records"
"""Where each process writes what smlocal wants to know."""
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
    """None: the script's own value."""
    strict: bool = False
    """True to refuse what the library refuses."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that the stand-in reads in the container."""
        return {"Mode": self.mode, "FusionBufferBytes": self.fusion_buffer_bytes, "Strict": self.strict}
