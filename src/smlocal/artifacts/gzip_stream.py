"""A gzip stream compressed by several threads. The bytes do not depend on the number of threads or their timing.

Each block of a fixed size is compressed on its own, which makes the stream less than one per cent larger. Memory use is
a few blocks.
"""

import os
import struct
from collections import deque
from typing import TYPE_CHECKING, Protocol, Self

from isal import isal_zlib

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_BLOCK_BYTES = 1 << 20
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_RAW_DEFLATE = -15
_LEVEL = 1
_MOST_THREADS = 4
_FIRST_BYTES = 8


class _Writable(Protocol):
    def write(self, data: bytes, /) -> object:
        """Write all of the bytes."""


class _Block:
    """A block of the stream, reused once it is written."""

    __slots__ = ("data", "length")

    def __init__(self) -> None:
        self.data = bytearray(_BLOCK_BYTES)
        self.length = 0

    def compress(self) -> tuple[bytes, int]:
        """The compressed block and its CRC."""
        data = memoryview(self.data)[: self.length]
        return deflate(data), isal_zlib.crc32(data)


def deflate(data: memoryview) -> bytes:
    """Compress a block without references to earlier data. The same data gives the same bytes.

    ISA-L (2.32.1, `igzip_icf_body_h1_gr_bt.asm`, `.write_first_byte`) hashes a byte at the start of a stream together
    with the address of its own state. About once in some thousand streams this changes the result. Streams that start
    with a few bytes take another path in ISA-L, so these are compressed first.
    """
    stream = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _RAW_DEFLATE)
    pieces = [stream.compress(data[:_FIRST_BYTES]), stream.flush(isal_zlib.Z_SYNC_FLUSH)]
    if len(data) > _FIRST_BYTES:
        pieces += [stream.compress(data[_FIRST_BYTES:]), stream.flush(isal_zlib.Z_SYNC_FLUSH)]
    return b"".join(pieces)


class GzipStream:
    """Writes gzip to `file`. A context manager; `finish` completes the stream."""

    def __init__(self, file: _Writable) -> None:
        """Threads are only started if there is more than one block."""
        self._file = file
        self._block = _Block()
        self._spare: list[_Block] = []
        self._pending: deque[tuple[_Block, Future[tuple[bytes, int]]]] = deque()
        self._pool: ThreadPoolExecutor | None = None
        self._threads = max(2, min(_MOST_THREADS, os.cpu_count() or 1))
        self._crc = 0
        self.bytes_in = 0
        file.write(_HEADER)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def space(self) -> memoryview:
        """Memory to read data into; call `advance` with the number of bytes."""
        return memoryview(self._block.data)[self._block.length :]

    def advance(self, count: int) -> None:
        """Append the first `count` bytes of `space()`."""
        self._block.length += count
        self.bytes_in += count
        if self._block.length == _BLOCK_BYTES:
            self._submit()

    def write(self, data: bytes) -> None:
        """Append bytes."""
        rest = memoryview(data)
        while rest:
            space = self.space()
            count = min(len(space), len(rest))
            space[:count] = rest[:count]
            self.advance(count)
            rest = rest[count:]

    def zeros(self, count: int) -> None:
        """Append zero bytes."""
        while count:
            piece = min(count, _BLOCK_BYTES)
            self.write(bytes(piece))
            count -= piece

    def finish(self) -> None:
        """Write everything that is pending, and the end of the stream."""
        while self._pending:
            self._write_oldest()
        self._write(self._block, *self._block.compress())
        end = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _RAW_DEFLATE).flush()
        self._file.write(end + struct.pack("<II", self._crc, self.bytes_in & 0xFFFFFFFF))

    def _submit(self) -> None:
        """Have the current block compressed by a thread, and start the next one."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # most jobs that do nothing never need it

            self._pool = ThreadPoolExecutor(self._threads, "smlocal-gzip")
        self._pending.append((self._block, self._pool.submit(self._block.compress)))
        if len(self._pending) > self._threads + 1:
            self._write_oldest()
        self._block = self._spare.pop() if self._spare else _Block()

    def _write_oldest(self) -> None:
        block, compressed = self._pending.popleft()
        self._write(block, *compressed.result())
        block.length = 0
        self._spare.append(block)

    def _write(self, block: _Block, deflated: bytes, crc: int) -> None:
        self._file.write(deflated)
        self._crc = isal_zlib.crc32_combine(self._crc, crc, block.length)
