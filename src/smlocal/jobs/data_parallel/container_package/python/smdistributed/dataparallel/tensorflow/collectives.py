"""Operations of ranks on single tensors."""

import enum
import itertools
from typing import Any, Iterable, Optional

import tensorflow as tf

from ..exceptions import SMDDPUnsupportedError
from .ranks import rank, size

_GROUP = 7592
"""A number that TensorFlow's strategies do not use for groups of their own."""
_keys = itertools.count(1)
"""One for each collective. Ranks run the same program, and have the same numbers."""
_SENT = {tf.bool, tf.half, tf.float32, tf.float64, tf.int32, tf.int64}
_SENT_AS = {1: tf.int32, 2: tf.half, 4: tf.int32, 8: tf.int64}
"""By the size of a number, for types that TensorFlow does not send."""


class ReduceOp(enum.Enum):
    """How tensors are combined."""

    AVERAGE = ("Add", "Div")
    SUM = ("Add", "Id")
    MIN = ("Min", "Id")
    MAX = ("Max", "Id")


class _NoneCompression:
    @staticmethod
    def compress(tensor: Any) -> Any:
        return tensor


class _FP16Compression(_NoneCompression):
    @staticmethod
    def compress(tensor: Any) -> Any:
        return tf.cast(tensor, tf.float16) if tensor.dtype.is_floating else tensor


class Compression:
    """In what form gradients are sent."""

    none = _NoneCompression
    fp16 = _FP16Compression


def allreduce(
    tensor: Any,
    param_index: int,  # noqa: ARG001 - TensorFlow needs no order
    num_params: int,  # noqa: ARG001
    compression: Any = Compression.none,
    op: "Optional[ReduceOp]" = ReduceOp.AVERAGE,
) -> Any:
    """The tensors of all ranks, combined."""
    tensor = tf.convert_to_tensor(tensor)
    if size() == 1:
        return tf.identity(tensor)
    merge, final = (op or ReduceOp.AVERAGE).value
    reduced = tf.raw_ops.CollectiveReduceV2(
        input=compression.compress(tensor), ordering_token=[], merge_op=merge, final_op=final, **_collective()
    )
    return tf.cast(reduced, tensor.dtype)


def oob_allreduce(tensor: Any, compression: Any = Compression.none, op: "Optional[ReduceOp]" = ReduceOp.AVERAGE) -> Any:
    """The average of the tensors of all ranks."""
    check_average("oob_allreduce", op)
    return allreduce(tensor, 0, 1, compression)


def broadcast(tensor: Any, root_rank: int) -> Any:
    """The tensor of one rank."""
    tensor = tf.convert_to_tensor(tensor)
    if not 0 <= root_rank < size():
        raise ValueError(f"root_rank is {root_rank}, and there are {size()} ranks")
    if size() == 1:
        return tf.identity(tensor)
    sent = _to_send(tensor)
    if rank() == root_rank:
        received = tf.raw_ops.CollectiveBcastSendV2(input=sent, **_collective())
    else:
        received = tf.raw_ops.CollectiveBcastRecvV2(T=sent.dtype, shape=tf.shape(sent), **_collective())
        received = tf.ensure_shape(received, sent.shape)
    if sent.dtype == tensor.dtype:
        return received
    convert = tf.bitcast if sent.dtype.size == tensor.dtype.size else tf.cast
    return convert(received, tensor.dtype)


def broadcast_variables(variables: "Iterable[Any]", root_rank: int) -> None:
    """Give variables the values of one rank."""
    for variable in variables:
        variable.assign(broadcast(variable, root_rank))


def overlap(tensor: Any) -> Any:
    """The tensor itself: TensorFlow has no fusion buffer that it could hint at."""
    return tf.identity(tensor)


def check_average(what: str, op: "Optional[ReduceOp]") -> None:
    """Refuse what the library refuses."""
    if op not in {None, ReduceOp.AVERAGE}:
        raise SMDDPUnsupportedError(f"{what} supports only ReduceOp.AVERAGE")


def _to_send(tensor: Any) -> Any:
    if tensor.dtype in _SENT:
        return tensor
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating) or tensor.dtype.size not in _SENT_AS:
        raise SMDDPUnsupportedError(f"tensors of {tensor.dtype.name} cannot be broadcast")
    target = _SENT_AS[tensor.dtype.size]
    return tf.bitcast(tensor, target) if target.size == tensor.dtype.size else tf.cast(tensor, target)


def _collective() -> "dict[str, int]":
    return {"group_size": size(), "group_key": _GROUP, "instance_key": next(_keys)}
