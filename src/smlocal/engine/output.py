"""What an attached container writes: the engine's frames taken apart, in as few steps as there are reads."""

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Final

from smlocal.engine.http import Answer

_HEAD: Final = Struct(">4xI")
"""A frame's head: which stream, three zeros, the payload's length."""


class AttachedOutput:
    """The stream of an attached container. Ends too when the engine goes away: the container's wait then says so."""

    def __init__(self, answer: Answer) -> None:
        """Take over an upgraded connection."""
        self._answer = answer
        self._iterated = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield payload, one piece for each read."""
        self._iterated = True
        try:
            yield from payloads(self._answer.rest())
        except (OSError, ValueError):  # reset by a dying engine; ValueError: closed by us in another thread
            return
        finally:
            self._answer.close()

    def close(self) -> None:
        """End the iteration, from any thread."""
        self._answer.shutdown()
        if not self._iterated:
            self._answer.close()


def payloads(reads: Iterable[bytes]) -> Iterator[bytes]:
    """Strip the frames' heads. Both streams come in the order in which the engine sent them.

    A payload is passed on as it arrives, whole or not: a frame may be as long as a container's longest write.
    """
    kept = b""  # a head that is not all there
    missing = 0  # of the payload under way
    unpack = _HEAD.unpack_from
    for read in reads:
        data = kept + read if kept else read
        end = len(data)
        if missing >= end:
            missing -= end
            kept = b""
            yield data
            continue
        parts = [data[:missing]] if missing else []
        position = missing
        missing = 0
        while position + 8 <= end:
            start = position + 8
            position = start + unpack(data, position)[0]
            parts.append(data[start:position])
        if position > end:
            missing, kept = position - end, b""
        else:
            kept = data[position:]
        if piece := b"".join(parts):
            yield piece
