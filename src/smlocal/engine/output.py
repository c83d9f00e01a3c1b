"""Reads the output of an attached container from the engine's frames."""

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Final

from smlocal.engine.http import Answer
from smlocal.engine.interface import Written
from smlocal.engine.whole_lines import WholeLines

_HEAD: Final = Struct(">B3xI")
"""The head of a frame: number of the stream, three zeros, length of the payload."""


class AttachedOutput:
    """The output of an attached container. It also ends if the engine is lost, which `wait` reports."""

    def __init__(self, answer: Answer) -> None:
        """Take an upgraded connection."""
        self._answer = answer
        self._iterated = False

    def __iter__(self) -> Iterator[Written]:
        """Yield the output of each read, and at the end the last lines without a newline."""
        self._iterated = True
        lines = WholeLines()
        try:
            for pieces in payloads(self._answer.rest()):
                yield Written(lines.take(pieces), pieces)
        except (OSError, ValueError):  # OSError: the engine is lost; ValueError: closed by another thread
            pass
        finally:
            self._answer.close()
        if rest := lines.rest():
            yield Written(rest, [])

    def close(self) -> None:
        """End the iteration, from any thread."""
        self._answer.shutdown()
        if not self._iterated:
            self._answer.close()


class Frames:
    """Takes the engine's frames apart.

    Incomplete payloads are not held back: a frame may be as long as the longest write of a container.
    """

    __slots__ = ("_kept", "_missing", "_stream")

    def __init__(self) -> None:
        self._kept = b""
        """An incomplete head."""
        self._missing = 0
        """Bytes of the present payload."""
        self._stream = 0

    def take(self, read: bytes) -> list[tuple[int, bytes]]:
        """The payloads in one read with the numbers of their streams, in the engine's order."""
        data = self._kept + read if self._kept else read
        end = len(data)
        stream = self._stream
        position = self._missing
        pieces = [(stream, data[:position])] if position else []
        while position + 8 <= end:
            stream, size = _HEAD.unpack_from(data, position)
            start = position + 8
            position = start + size
            if size and start < end:
                pieces.append((stream, data[start:position]))
        self._stream = stream
        self._missing = max(0, position - end)
        self._kept = data[position:]
        return pieces


def payloads(reads: Iterable[bytes]) -> Iterator[list[tuple[int, bytes]]]:
    """Yield the payloads of each read that has some."""
    frames = Frames()
    for read in reads:
        if pieces := frames.take(read):
            yield pieces
