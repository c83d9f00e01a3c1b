"""The backend `smddp`: gloo on CPUs, NCCL where there are GPUs."""

import atexit
import functools
import os
import socket
import sys
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d

from ...smlocal_records import record, say
from ...smlocal_settings import BALANCED, read_settings
from ...smlocal_threads import let_finish
from ..exceptions import SMDDPUnsupportedError
from .without_gpus import prepare_clients

NAME = "smddp"
_told: "set[str]" = set()


def register() -> None:
    """Make the backend known; more than once does nothing."""
    if not dist.is_available():
        raise ImportError("smdistributed.dataparallel needs torch.distributed, and this PyTorch was built without it")
    if hasattr(dist.Backend, NAME.upper()):
        return
    dist.Backend.register_backend(NAME, _create, devices=["cpu", "cuda"])
    atexit.register(_end)
    wrapped = _checked(distributed_c10d.new_group)
    distributed_c10d.new_group = wrapped
    dist.new_group = wrapped
    if "LOCAL_RANK" in os.environ:  # transformers reads the library's own name
        os.environ.setdefault("SMDATAPARALLEL_LOCAL_RANK", os.environ["LOCAL_RANK"])
    prepare_clients()
    ending = _settled(distributed_c10d.destroy_process_group)
    distributed_c10d.destroy_process_group = ending
    dist.destroy_process_group = ending
    # Without a rank: the start of the process group may fail.
    record({"Library": "stand-in", **_about_library()})
    say(f"the data parallel library is smlocal's stand-in: smddp is {_kind()} of PyTorch {torch.__version__}")


def _end() -> None:
    """The service's library is not gloo: without this, a script that keeps its process group to the end may abort.

    Its threads are not joined otherwise. On a busy machine 6 of 12 pairs of ranks ended in "terminate called without an
    active exception", and none of 24 pairs that did this.
    """
    if dist.is_initialized() and _kind() == "gloo":
        dist.destroy_process_group()


def _kind() -> str:
    return "nccl" if torch.cuda.is_available() and dist.is_nccl_available() else "gloo"


def _create(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    settings = read_settings()
    plain = _plain(store, rank, size, timeout)
    about = None if dist.is_initialized() else _about_process(rank, size)
    if settings.mode != BALANCED:
        if about is not None:
            record(about)
        return plain
    from .balanced import balanced_group

    return balanced_group(store, rank, size, timeout, plain=plain, about=about)


def _plain(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    if _kind() == "nccl":
        return dist.ProcessGroupNCCL(store, rank, size, timeout)
    return dist.ProcessGroupGloo(store, rank, size, timeout)


def _about_process(rank: int, size: int) -> "dict[str, Any]":
    return {
        "Library": "stand-in",
        "Rank": rank,
        "WorldSize": size,
        "LocalRank": int(os.environ.get("LOCAL_RANK", "0")),
        "Host": socket.gethostname(),
        **_about_library(),
    }


def _about_library() -> "dict[str, Any]":
    return {
        "Backend": _kind(),
        "Mode": read_settings().mode,
        "PyTorch": torch.__version__,
        "Python": f"{sys.version_info[0]}.{sys.version_info[1]}",
    }


def _settled(destroy: Any) -> Any:
    """The function `destroy_process_group`.

    The end of a group of gloo waits for its threads, with Python's lock if a model is the last to hold it. A thread
    that still has tensors to let go waits for that lock: on a busy machine a script could wait for itself for ever.
    """

    @functools.wraps(destroy)
    def settled(*arguments: Any, **named: Any) -> Any:
        let_finish("pt_gloo")
        return destroy(*arguments, **named)

    return settled


def _checked(new_group: Any) -> Any:
    """The function `new_group`, which the library refuses."""

    @functools.wraps(new_group)
    def checked(*arguments: Any, **named: Any) -> Any:
        if dist.is_initialized() and dist.get_backend() == NAME:
            sentence = "the data parallel library refuses further process groups (torch.distributed.new_group)"
            if read_settings().strict:
                raise SMDDPUnsupportedError(f"{sentence}; smlocal allows them without Local.DataParallel: strict")
            if sentence not in _told:
                _told.add(sentence)
                say(f"{sentence}; this run allows them. Local.DataParallel: strict refuses them here too")
        return new_group(*arguments, **named)

    return checked
