"""The ranks of a job, and the cluster in which TensorFlow lets them work together."""

import os
import socket
import sys
from typing import Any, List, NamedTuple, Optional

import tensorflow as tf

from ...smlocal_records import record, say
from ...smlocal_settings import BALANCED, read_settings
from ..exceptions import SMDDPError


class _Ranks(NamedTuple):
    rank: int
    size: int
    local_rank: int
    local_size: int


_ranks: "Optional[_Ranks]" = None
_strategy: Any = None
"""Kept: it holds TensorFlow's server for the other ranks."""


def init() -> None:
    """Join the other ranks. Each process takes the GPU of its local rank, if there are any."""
    global _ranks  # noqa: PLW0603 - one library for each process
    if _ranks is not None:
        raise SMDDPError("init() called more than once. smdistributed.dataparallel is already initialized.")
    ranks = _Ranks(
        rank=_of_mpi("RANK", 0),
        size=_of_mpi("SIZE", 1),
        local_rank=_of_mpi("LOCAL_RANK", 0),
        local_size=_of_mpi("LOCAL_SIZE", 1),
    )
    gpus = tf.config.list_physical_devices("GPU")
    # Scripts do the same after init(), when TensorFlow takes nothing else any more.
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    if gpus:
        tf.config.set_visible_devices(gpus[ranks.local_rank], "GPU")
    if ranks.size > 1:
        _start_cluster(ranks)
    _ranks = ranks
    record(
        {
            "Library": "stand-in",
            "Rank": ranks.rank,
            "WorldSize": ranks.size,
            "LocalRank": ranks.local_rank,
            "Host": socket.gethostname(),
            "Backend": "collectives",
            "Mode": "plain",
            "TensorFlow": tf.__version__,
            "Python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        }
    )
    say(f"the data parallel library is smlocal's stand-in: collectives of TensorFlow {tf.__version__}")
    if read_settings().mode == BALANCED:
        say("the balanced fusion buffer is for PyTorch: TensorFlow reduces in its own way")


def size() -> int:
    """The number of ranks."""
    return _known().size


def local_size() -> int:
    """The number of ranks on this host."""
    return _known().local_size


def rank() -> int:
    """The number of this process."""
    return _known().rank


def local_rank() -> int:
    """The number of this process on its host."""
    return _known().local_rank


def shutdown() -> None:
    """Do nothing: all state ends with the process."""


def _known() -> _Ranks:
    if _ranks is None:
        raise ValueError("smdistributed.dataparallel has not been initialized: call init() first")
    return _ranks


def _of_mpi(name: str, alone: int) -> int:
    return int(os.environ.get(f"OMPI_COMM_WORLD_{name}", alone))


def _start_cluster(ranks: _Ranks) -> None:
    global _strategy  # noqa: PLW0603 - one library for each process
    workers = _addresses()
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": workers}), task_type="worker", task_id=ranks.rank, rpc_layer="grpc"
    )
    try:
        _strategy = tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=resolver)
    except RuntimeError as error:
        raise SMDDPError(f"init() must be called before TensorFlow computes anything: {error}") from error


def _addresses() -> "List[str]":
    """Where TensorFlow of each rank will listen."""
    try:
        from mpi4py import MPI
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "smdistributed.dataparallel.tensorflow needs mpi4py, with which the toolkit starts scripts: "
            "install it in the image",
            name="mpi4py",
        ) from None
    if "MASTER_ADDR" not in os.environ:
        raise SMDDPError("MASTER_ADDR is not set: smddprun has to start this process")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as towards_first:
        towards_first.connect((os.environ["MASTER_ADDR"], 7592))  # sends nothing
        own = towards_first.getsockname()[0]
    with socket.socket() as port:  # open until all ranks have theirs, so that no two have the same
        port.bind((own, 0))
        return list(MPI.COMM_WORLD.allgather(f"{own}:{port.getsockname()[1]}"))
