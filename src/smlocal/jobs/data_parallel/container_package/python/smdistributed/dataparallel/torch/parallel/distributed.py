"""`DistributedDataParallel` of the library's first interface, on PyTorch's own."""

from typing import Any, List, Optional

import torch

from .. import torch_smddp as _registered

__all__ = ["DistributedDataParallel"]
_ = _registered


class DistributedDataParallel(torch.nn.parallel.DistributedDataParallel):  # type: ignore[misc]  # not here: torch is in images
    """Averages the gradients of all ranks. `no_sync` and everything else is PyTorch's."""

    def __init__(  # noqa: PLR0917 - the order is the library's
        self,
        module: torch.nn.Module,
        device_ids: "Optional[List[Any]]" = None,
        output_device: Any = None,
        broadcast_buffers: bool = True,  # noqa: FBT001, FBT002 - as in the library
        process_group: Any = None,
        bucket_cap_mb: float = 25,
        **named: Any,
    ) -> None:
        super().__init__(
            module,
            device_ids=device_ids,
            output_device=output_device,
            **({} if broadcast_buffers else {"broadcast_buffers": False}),  # newer releases warn of it
            process_group=process_group,
            bucket_cap_mb=bucket_cap_mb,
            **named,
        )
