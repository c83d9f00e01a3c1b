"""The library's first interface: the functions of `torch.distributed`, with the backend `smddp`."""

import os
from typing import Any

import torch.distributed as _dist
from torch.distributed import (
    ReduceOp,
    all_gather,
    all_reduce,
    all_to_all_single,
    barrier,
    broadcast,
    get_rank,
    get_world_size,
    group,
    is_available,
    is_initialized,
    reduce,
)

from . import torch_smddp as _registered

__all__ = [
    "ReduceOp",
    "all_gather",
    "all_reduce",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "get_local_rank",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "is_available",
    "is_initialized",
    "reduce",
]


def init_process_group(backend: str = _registered.NAME, **named: Any) -> None:
    """Start the process group."""
    _dist.init_process_group(backend, **named)


def get_local_rank() -> int:
    """The number of this process on its host."""
    return int(os.environ["LOCAL_RANK"])
