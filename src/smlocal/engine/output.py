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


def payloads(reads: Iterable[bytes]) -> Iterator[list[tuple[int, bytes]]]:
    """Yield the payloads in each read with the numbers of their streams, in the engine's order.

    Incomplete payloads are not held back: a frame may be as long as the longest write of a container.
    """
    kept = b""  # an incomplete head
    missing = 0  # bytes of the present payload
    stream = 0
    unpack = _HEAD.unpack_from
    for read in reads:
        data = kept + read if kept else read
        end = len(data)
        pieces = [(stream, data[:missing])] if missing else []
        position = missing
        while position + 8 <= end:
            stream, size = unpack(data, position)
            start = position + 8
            position = start + size
            if size and start < end:
                pieces.append((stream, data[start:position]))
        missing = max(0, position - end)
        kept = data[position:]
        if pieces:
            yield pieces
