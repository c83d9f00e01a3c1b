"""Gradients that are averaged over all ranks before a script gets them."""

from typing import Any, Iterator, List, Optional, Sequence, Tuple

import tensorflow as tf

from ..exceptions import SMDDPUnsupportedError
from .collectives import Compression, ReduceOp, allreduce, check_average

_BUFFER_MB = 25


class DistributedGradientTape:
    """A `tf.GradientTape` whose gradients are averages."""

    def __init__(  # noqa: PLR0917 - the order is the library's
        self,
        gradtape: Any,
        device_dense: str = "",
        device_sparse: str = "",
        compression: Any = Compression.none,
        sparse_as_dense: bool = False,  # noqa: FBT001, FBT002 - as in the library
        op: "Optional[ReduceOp]" = ReduceOp.AVERAGE,
    ) -> None:
        _refuse(device_dense, device_sparse, sparse_as_dense)
        check_average("DistributedGradientTape", op)
        self._tape = gradtape
        self._compression = compression

    def __enter__(self) -> Any:
        self._tape.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:
        return self._tape.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tape, name)

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None, **named: Any) -> Any:
        """The gradients, averaged over all ranks, in the structure of `sources`."""
        found = self._tape.gradient(target, sources, output_gradients, **named)
        averaged = average(tf.nest.flatten(found), self._compression, _BUFFER_MB)
        return tf.nest.pack_sequence_as(found, averaged)


def DistributedOptimizer(  # noqa: N802, PLR0917 - the library's name and order
    optimizer: Any,
    name: "Optional[str]" = None,
    use_locking: bool = False,  # noqa: FBT001, FBT002 - as in the library
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    sparse_as_dense: bool = False,  # noqa: FBT001, FBT002 - as in the library
    op: "Optional[ReduceOp]" = ReduceOp.AVERAGE,
    bucket_cap_mb: int = _BUFFER_MB,
) -> Any:
    """An optimizer of `tf.compat.v1.train` that computes averages."""
    _refuse(device_dense, device_sparse, sparse_as_dense)
    check_average("DistributedOptimizer", op)
    if not isinstance(optimizer, tf.compat.v1.train.Optimizer):
        raise SMDDPUnsupportedError(
            "DistributedOptimizer takes an optimizer of tf.compat.v1.train; with others, use DistributedGradientTape"
        )
    return _Averaging(
        optimizer,
        name or f"smdistributed.dataparallel{type(optimizer).__name__}",
        use_locking=use_locking,
        compression=compression,
        bucket_cap_mb=bucket_cap_mb,
    )


class _Averaging(tf.compat.v1.train.Optimizer):  # type: ignore[misc]  # not here: TensorFlow is in images
    def __init__(self, optimizer: Any, name: str, *, use_locking: bool, compression: Any, bucket_cap_mb: int) -> None:
        super().__init__(use_locking, name)
        self._optimizer = optimizer
        self._compression = compression
        self._bucket_cap_mb = bucket_cap_mb

    def compute_gradients(self, *arguments: Any, **named: Any) -> "List[Tuple[Any, Any]]":
        pairs = self._optimizer.compute_gradients(*arguments, **named)
        averaged = average([gradient for gradient, _ in pairs], self._compression, self._bucket_cap_mb)
        return [(averaged[number], variable) for number, (_, variable) in enumerate(pairs)]

    def apply_gradients(self, *arguments: Any, **named: Any) -> Any:
        return self._optimizer.apply_gradients(*arguments, **named)

    def get_slot(self, *arguments: Any, **named: Any) -> Any:
        return self._optimizer.get_slot(*arguments, **named)

    def get_slot_names(self) -> Any:
        return self._optimizer.get_slot_names()

    def variables(self) -> Any:
        return self._optimizer.variables()


def average(gradients: "Sequence[Any]", compression: Any, bucket_cap_mb: int) -> "List[Any]":
    """The averages of gradients, of which some may be None. Several are reduced at once."""
    averaged = [None if each is None else tf.convert_to_tensor(each) for each in gradients]
    for numbers in _buffers(averaged, bucket_cap_mb << 20):
        parts: List[Any] = [averaged[number] for number in numbers]
        flat = tf.concat([tf.reshape(part, [-1]) for part in parts], 0)
        sums = tf.split(allreduce(flat, 0, 1, compression), [tf.size(part) for part in parts], num=len(parts))
        for place, number in enumerate(numbers):
            part = parts[place]
            averaged[number] = tf.ensure_shape(tf.reshape(sums[place], tf.shape(part)), part.shape)
    return averaged


def _buffers(tensors: "Sequence[Any]", limit: int) -> "Iterator[List[int]]":
    """The numbers of tensors of the same type, until they reach a size together."""
    for kind in dict.fromkeys(each.dtype for each in tensors if each is not None):
        buffer: List[int] = []
        filled = 0
        for number, each in enumerate(tensors):
            if each is not None and each.dtype == kind:
                buffer.append(number)
                filled += (each.shape.num_elements() or 0) * kind.size
                if filled >= limit:
                    yield buffer
                    buffer, filled = [], 0
        if buffer:
            yield buffer


def _refuse(device_dense: str, device_sparse: str, sparse_as_dense: bool) -> None:  # noqa: FBT001 - three of the library
    given = {"device_dense": device_dense, "device_sparse": device_sparse, "sparse_as_dense": sparse_as_dense}
    for name, value in given.items():
        if value:
            raise SMDDPUnsupportedError(f"{name} is not supported")
