"""The library for TensorFlow, on TensorFlow's own collectives."""

try:
    import tensorflow as tf
except ModuleNotFoundError as _error:
    if _error.name != "tensorflow":
        raise
    raise ModuleNotFoundError(
        "smdistributed.dataparallel needs TensorFlow, and this image has no package tensorflow: "
        "install it in the image",
        name="tensorflow",
    ) from None

if tuple(map(int, tf.__version__.split(".")[:2])) < (2, 9):  # today's interface of collectives
    raise ImportError(
        "smlocal's stand-in for smdistributed.dataparallel needs TensorFlow 2.9 or newer, and this image has "
        f"{tf.__version__}"
    )

from .collectives import Compression, ReduceOp, allreduce, broadcast, broadcast_variables, oob_allreduce, overlap
from .gradients import DistributedGradientTape, DistributedOptimizer
from .ranks import init, local_rank, local_size, rank, shutdown, size
from .sessions import BroadcastGlobalVariablesHook, broadcast_global_variables

__all__ = [
    "BroadcastGlobalVariablesHook",
    "Compression",
    "DistributedGradientTape",
    "DistributedOptimizer",
    "ReduceOp",
    "allreduce",
    "broadcast",
    "broadcast_global_variables",
    "broadcast_variables",
    "init",
    "local_rank",
    "local_size",
    "oob_allreduce",
    "overlap",
    "rank",
    "shutdown",
    "size",
]
