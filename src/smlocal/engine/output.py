"""What an attached container writes: the engine's frames taken apart, in as few steps as there are reads."""

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Final

from smlocal.engine.http import Answer
from smlocal.engine.interface import Written
from smlocal.engine.whole_lines import WholeLines

_HEAD: Final = Struct(">B3xI")
"""A frame's head: which stream, three zeros, the payload's length."""


class AttachedOutput:
    """The stream of an attached container. Ends too when the engine goes away: the container's wait then says so."""

    def __init__(self, answer: Answer) -> None:
        """Take over an upgraded connection."""
        self._answer = answer
        self._iterated = False

    def __iter__(self) -> Iterator[Written]:
        """Yield what each read brought, and at the end the last lines that have no end."""
        self._iterated = True
        lines = WholeLines()
        try:
            for pieces in payloads(self._answer.rest()):
                yield Written(lines.take(pieces), pieces)
        except (OSError, ValueError):  # reset by a dying engine; ValueError: closed by us in another thread
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
    """Yield the payloads in each read, with the number of their stream, in the order in which the engine sent them.

    A payload is passed on as it arrives, whole or not: a frame may be as long as a container's longest write.
    """
    kept = b""  # a head that is not all there
    missing = 0  # of the payload under way
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
