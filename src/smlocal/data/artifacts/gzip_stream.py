"""A gzip stream compressed by several threads. The bytes do not depend on the number of threads or their timing.

Each block of a fixed size is compressed on its own, which makes the stream less than one per cent larger. Memory use is
a few blocks.
"""

import os
import struct
from collections import deque
from collections.abc import Callable
from functools import cache
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
_ZERO_BLOCKS = 64
"""So many blocks of zeros are written at once: 64 MiB, which are some 64 KiB compressed."""


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
        return self.compressed(self.length)

    def compressed(self, length: int) -> tuple[bytes, int]:
        """The first bytes, compressed, and their CRC."""
        data = memoryview(self.data)[:length]
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


@cache
def _zeros(blocks: int) -> tuple[bytes, int]:
    """So many compressed blocks of zeros (a power of two), and the CRC of their data."""
    if blocks == 1:
        return _Block().compressed(_BLOCK_BYTES)
    half, crc = _zeros(blocks // 2)
    return half + half, isal_zlib.crc32_combine(crc, crc, blocks // 2 * _BLOCK_BYTES)


class GzipStream:
    """Writes gzip to `file`. A context manager; `finish` completes the stream."""

    def __init__(self, file: _Writable) -> None:
        """Threads are only started if there is more than one block."""
        self._file = file
        self._block = _Block()
        self._spare: list[_Block] = []
        self._pending: deque[tuple[_Block, Future[tuple[bytes, int]]] | int] = deque()
        """In their order: blocks that are being compressed, and numbers of blocks of zeros."""
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

    def zeros(self, count: int, *, added: Callable[[], None] = lambda: None) -> None:
        """Append zero bytes, as many as there may be in the holes of a file. `added` is called after each piece.

        The result is the same as that of `write`, but blocks of zeros are compressed only once.
        """
        while count:
            if self._block.length or count < _BLOCK_BYTES:
                space = self.space()
                piece = min(len(space), count)
                space[:piece] = bytes(piece)
                self.advance(piece)
            else:
                blocks = _ZERO_BLOCKS if count >= _ZERO_BLOCKS * _BLOCK_BYTES else 1
                piece = blocks * _BLOCK_BYTES
                self.bytes_in += piece
                self._queue(blocks)
            count -= piece
            added()

    def finish(self) -> None:
        """Write everything that is pending, and the end of the stream."""
        while self._pending:
            self._write_oldest()
        self._write(self._block.length, *self._block.compress())
        end = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _RAW_DEFLATE).flush()
        self._file.write(end + struct.pack("<II", self._crc, self.bytes_in & 0xFFFFFFFF))

    def _submit(self) -> None:
        """Have the current block compressed by a thread, and start the next one."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # most jobs that do nothing never need it

            self._pool = ThreadPoolExecutor(self._threads, "smlocal-gzip")
        self._queue((self._block, self._pool.submit(self._block.compress)))
        self._block = self._spare.pop() if self._spare else _Block()

    def _queue(self, piece: "tuple[_Block, Future[tuple[bytes, int]]] | int") -> None:
        self._pending.append(piece)
        if len(self._pending) > self._threads + 1:
            self._write_oldest()

    def _write_oldest(self) -> None:
        oldest = self._pending.popleft()
        if isinstance(oldest, int):
            self._write(oldest * _BLOCK_BYTES, *_zeros(oldest))
            return
        block, compressed = oldest
        self._write(block.length, *compressed.result())
        block.length = 0
        self._spare.append(block)

    def _write(self, length: int, deflated: bytes, crc: int) -> None:
        self._file.write(deflated)
        self._crc = isal_zlib.crc32_combine(self._crc, crc, length)
