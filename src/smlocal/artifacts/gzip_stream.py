"""A gzip stream compressed by several threads, the same bytes whatever their timing and number.

Every block of a fixed size is deflated on its own, so nothing depends on who takes which; the loss against one long
stream is under one per cent. Memory is a handful of blocks.
"""

import os
import struct
from collections import deque
from queue import SimpleQueue
from threading import Event, Thread
from typing import Protocol, Self

from isal import isal_zlib

_BLOCK_BYTES = 1 << 20
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_RAW_DEFLATE = -15
_LEVEL = 1
_MOST_THREADS = 4
_FEW = 8


class _Sink(Protocol):
    def write(self, data: bytes, /) -> object:
        """Take the next bytes, all of them."""


class _Block:
    """A piece of the stream on its way through a thread."""

    __slots__ = ("crc", "data", "deflated", "done", "error", "length")

    def __init__(self) -> None:
        self.data = bytearray(_BLOCK_BYTES)
        self.length = 0
        self.deflated = b""
        self.crc = 0
        self.error: Exception | None = None
        self.done = Event()

    def deflate(self) -> None:
        try:
            data = memoryview(self.data)[: self.length]
            self.crc = isal_zlib.crc32(data)
            self.deflated = deflate(data)
        except Exception as error:  # noqa: BLE001 - raised again where the block is written
            self.error = error
        self.done.set()


def deflate(data: memoryview) -> bytes:
    """A part of a stream of which nothing refers to what comes before it.

    Where many bytes begin a stream, ISA-L (2.32.1, `igzip_icf_body_h1_gr_bt.asm`, `.write_first_byte`) enters one of
    them into its table under a number made from the address of its own state. Once in some thousand times that lets it
    choose another of two ways to say the same. A few bytes begin the stream on a path of their own, without this.
    """
    stream = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _RAW_DEFLATE)
    pieces = [stream.compress(data[:_FEW]), stream.flush(isal_zlib.Z_SYNC_FLUSH)]
    if len(data) > _FEW:
        pieces += [stream.compress(data[_FEW:]), stream.flush(isal_zlib.Z_SYNC_FLUSH)]
    return b"".join(pieces)


class GzipStream:
    """Takes bytes, writes gzip to `file`. Use as a context manager; `finish` makes the stream whole."""

    def __init__(self, file: _Sink) -> None:
        """Write to `file`; threads start once there is more than one block."""
        self._file = file
        self._block = _Block()
        self._spare: list[_Block] = []
        self._pending: deque[_Block] = deque()
        self._work: SimpleQueue[_Block | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self._wanted_threads = max(2, min(_MOST_THREADS, os.cpu_count() or 1))
        self._crc = 0
        self.bytes_in = 0
        file.write(_HEADER)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for _thread in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join()

    def space(self) -> memoryview:
        """Room to read into; say with `advance` how much of it was filled."""
        return memoryview(self._block.data)[self._block.length :]

    def advance(self, count: int) -> None:
        """Take the first `count` bytes of `space()` as written."""
        self._block.length += count
        self.bytes_in += count
        if self._block.length == _BLOCK_BYTES:
            self._hand_over()

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
        """Write all that is pending, and the end of the stream."""
        if self._threads:
            self._hand_over()
            while self._pending:
                self._write_oldest()
        else:
            self._block.deflate()
            self._emit(self._block)
        end = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _RAW_DEFLATE).flush()
        self._file.write(end + struct.pack("<II", self._crc, self.bytes_in & 0xFFFFFFFF))

    def _hand_over(self) -> None:
        if len(self._threads) < self._wanted_threads:
            thread = Thread(target=self._compress, name="smlocal-gzip", daemon=True)
            thread.start()
            self._threads.append(thread)
        self._pending.append(self._block)
        self._work.put(self._block)
        if len(self._pending) > self._wanted_threads + 1:
            self._write_oldest()
        self._block = self._spare.pop() if self._spare else _Block()

    def _compress(self) -> None:
        while (block := self._work.get()) is not None:
            block.deflate()

    def _write_oldest(self) -> None:
        block = self._pending.popleft()
        block.done.wait()
        self._emit(block)
        block.done.clear()
        block.length = 0
        self._spare.append(block)

    def _emit(self, block: _Block) -> None:
        if block.error is not None:
            raise block.error
        self._file.write(block.deflated)
        self._crc = isal_zlib.crc32_combine(self._crc, block.crc, block.length)
        block.deflated = b""
