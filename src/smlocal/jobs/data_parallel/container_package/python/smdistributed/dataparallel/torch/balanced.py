"""The balanced fusion buffer: every rank is a server for an equal part of each buffer of gradients.

A buffer is what `DistributedDataParallel` reduces at once. It is cut into as many equal parts as there are ranks. Part
i of all ranks goes to rank i, which adds them up and returns the sum to all. A thread does this, while the backward
pass computes the next buffer.
"""

import atexit
import queue
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Callable, Dict, Iterator, Optional

import torch
import torch.distributed as dist

from ...smlocal_settings import read_settings
from ..exceptions import SMDDPBufferError
from .buffer_records import BufferRecords

_PARTS, _SUMS = 1, 2
"""Tags of what ranks send."""
_SECONDS_TO_STOP = 10.0
"""It may wait for a rank that has died."""


def balanced_group(
    store: Any, rank: int, size: int, timeout: timedelta, *, plain: Any, about: "Optional[Dict[str, Any]]"
) -> Any:
    """A process group whose sums are made by servers; everything else is that of the group `plain`.

    `about`: the record of this process; None for another group, of which nothing is recorded.
    """
    records = None if about is None else BufferRecords(about, size)
    if records is not None:
        _prepare_models(records)
    # The thread has a group of its own: two threads must not interleave their operations in one.
    servers = dist.ProcessGroupGloo(dist.PrefixStore("balanced", store), rank, size, timeout)
    return BalancedGroup(rank, size, plain, servers, records)


class BufferWork(dist._Work):  # type: ignore[misc]  # noqa: SLF001 - PyTorch has no other name for it
    """A buffer that is being reduced."""

    def __init__(self, future: Any) -> None:
        super().__init__()
        self._future = future

    def wait(self, timeout: Any = None) -> bool:  # noqa: ARG002 - the group has its own
        """Wait for the sums; raises the error that occurred."""
        self._future.wait()
        return True

    def is_completed(self) -> bool:
        """True if `wait` would return at once."""
        return bool(self._future.done())

    def get_future(self) -> Any:
        """The future that `DistributedDataParallel` waits for."""
        return self._future


class BalancedGroup(dist.ProcessGroup):  # type: ignore[misc]  # torch is in images, not here
    """`allreduce` by servers. Everything else goes to `plain`."""

    def __init__(self, rank: int, size: int, plain: Any, servers: Any, records: "BufferRecords | None") -> None:
        super().__init__(rank, size)
        self._rank = rank
        self._ranks = size
        self._memory = torch.empty(0, dtype=torch.uint8)
        self._plain = plain
        self._servers = servers
        self._records = records
        self._tasks: "queue.SimpleQueue[Optional[Callable[[], None]]]" = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="smddp-buffers", daemon=True)
        self._thread.start()
        atexit.register(self._stop)

    def getBackendName(self) -> str:  # noqa: N802 - PyTorch's name
        """The name that messages have."""
        return "smddp"

    def allreduce(self, tensors: Any, options: Any = None) -> Any:
        """Begin to reduce; returns an object to wait for."""
        options = options if options is not None else dist.AllreduceOptions()
        if len(tensors) != 1 or options.reduceOp != dist.ReduceOp.SUM or not _is_plain(tensors[0]):
            return self._plain.allreduce(tensors, options)
        ready, (tensor,) = time.time(), tensors
        future: Any = torch.futures.Future()
        computed = None
        if tensor.is_cuda:
            computed = torch.cuda.Event()
            computed.record()

        def reduce() -> None:
            try:
                if computed is not None:
                    computed.synchronize()
                self._reduce(tensor.detach(), ready)
            except Exception as error:  # noqa: BLE001 - raised by the waiting thread
                future.set_exception(error)
            else:
                future.set_result([tensor])

        self._tasks.put(reduce)
        return BufferWork(future)

    def _work(self) -> None:
        for task in iter(self._tasks.get, None):
            task()

    def _stop(self) -> None:
        """End the thread before the interpreter ends: a thread that it stops inside of PyTorch aborts the process."""
        self._tasks.put(None)
        self._thread.join(_SECONDS_TO_STOP)

    def _reduce(self, tensor: Any, ready: float) -> None:
        begin = time.time()
        count = tensor.numel()
        self._check_sizes(count)
        buffer = tensor.reshape(-1).cpu()  # a copy, if it is on a GPU
        size = -(-count // self._ranks)
        parts = [_padded(buffer[start : start + size], size) for start in range(0, size * self._ranks, size)]
        self._add_up(parts)
        for number, start in enumerate(range(0, count, size)):
            part = parts[number]
            end = min(start + size, count)
            if part.data_ptr() != buffer[start:end].data_ptr():
                buffer[start:end].copy_(part[: end - start])
        if buffer.data_ptr() != tensor.data_ptr():
            tensor.copy_(buffer.view_as(tensor))
            if tensor.is_cuda:
                torch.cuda.synchronize(tensor.device)
        if self._records is not None:
            width = buffer.element_size()
            self._records.add(count * width, size * width, ready=ready, begin=begin, end=time.time())

    def _add_up(self, parts: "list[Any]") -> None:
        """Replace the parts of a buffer by their sums: part i goes to rank i, which adds up and returns it."""
        own, others = parts[self._rank], [rank for rank in range(self._ranks) if rank != self._rank]
        received = self._space(len(others), own)
        coming = [self._servers.recv([space], others[number], _PARTS) for number, space in enumerate(received)]
        sent = [self._servers.send([parts[rank]], rank, _PARTS) for rank in others]
        for number, work in enumerate(coming):
            work.wait()
            own.add_(received[number])
        for work in sent:
            work.wait()
        works = [self._servers.recv([parts[rank]], rank, _SUMS) for rank in others]
        works += [self._servers.send([own], rank, _SUMS) for rank in others]
        for work in works:
            work.wait()

    def _space(self, count: int, like: Any) -> "list[Any]":
        """Memory for this many parts, which is kept: new memory costs more than the work in it."""
        size = like.numel() * like.element_size()
        if self._memory.numel() < count * size:
            self._memory = torch.empty(count * size, dtype=torch.uint8)
        return [self._memory[number * size : (number + 1) * size].view(like.dtype) for number in range(count)]

    def _check_sizes(self, count: int) -> None:
        """Ranks with different sizes would wait for each other for ever."""
        sizes = torch.empty(self._ranks, dtype=torch.int64)
        self._servers._allgather_base(sizes, torch.tensor([count])).wait()  # noqa: SLF001 - PyTorch's name
        found = sizes.tolist()
        if len({*found}) > 1:
            raise SMDDPBufferError(f"the ranks reduce buffers of different sizes together: {found} numbers")


def _padded(part: Any, size: int) -> Any:
    """A part of this size: all parts are equal, so the last one may need some zeros."""
    return part if part.numel() == size else torch.cat([part, part.new_zeros(size - part.numel())])


def _of_plain(name: str) -> Any:
    def call(self: BalancedGroup, *arguments: Any, **named: Any) -> Any:
        return getattr(self._plain, name)(*arguments, **named)

    return call


for _name in (
    "_allgather_base",
    "_reduce_scatter_base",
    "allgather",
    "allgather_coalesced",
    "allgather_into_tensor_coalesced",
    "allreduce_coalesced",
    "alltoall",
    "alltoall_base",
    "barrier",
    "broadcast",
    "gather",
    "monitored_barrier",
    "recv",
    "recv_anysource",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor_coalesced",
    "scatter",
    "send",
):
    setattr(BalancedGroup, _name, _of_plain(_name))


def _is_plain(tensor: Any) -> bool:
    return bool(tensor.layout == torch.strided and tensor.numel() and tensor.dtype != torch.bool)


@contextmanager
def _limited_buckets(size: int) -> "Iterator[None]":
    """Buffers of this size from the first iteration on.

    PyTorch puts all gradients into one until it knows their order, and the first one has a limit of its own.
    """
    assign = getattr(dist, "_compute_bucket_assignment_by_size", None)
    first = getattr(dist, "_DEFAULT_FIRST_BUCKET_BYTES", None)
    if assign is None or first is None:  # another PyTorch: only later iterations keep the limit
        yield
        return

    def assigned(tensors: Any, limits: Any, *arguments: Any, **named: Any) -> Any:
        return assign(tensors, [min(limit, size) for limit in limits], *arguments, **named)

    dist._compute_bucket_assignment_by_size = assigned  # noqa: SLF001 - PyTorch has no other name for it
    dist._DEFAULT_FIRST_BUCKET_BYTES = min(first, size)  # noqa: SLF001
    try:
        yield
    finally:
        dist._compute_bucket_assignment_by_size = assign  # noqa: SLF001
        dist._DEFAULT_FIRST_BUCKET_BYTES = first  # noqa: SLF001


def _prepare_models(records: BufferRecords) -> None:
    """Give models the buffer size of the job, and let the records know of models and iterations."""
    model_class = torch.nn.parallel.DistributedDataParallel
    original = model_class.__init__

    def prepared(self: Any, *arguments: Any, **named: Any) -> None:
        size = read_settings().fusion_buffer_bytes
        if size is None:
            original(self, *arguments, **named)
        else:
            named["bucket_cap_mb"] = size / (1 << 20)
            with _limited_buckets(size):
                original(self, *arguments, **named)
        records.watch(self)

    model_class.__init__ = prepared
