"""The stand-in for the data parallel library, as it is planned."""

from collections.abc import Mapping
from typing import Any

from smlocal.base.quick_dataclass import dataclass


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
