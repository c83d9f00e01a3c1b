"""Assembles complete lines of several streams."""

from collections.abc import Iterable
from typing import Final

MOST_HELD: Final = 1 << 20
"""The maximum size of an incomplete line. A longer line is passed on in pieces."""


class WholeLines:
    """Takes pieces of several streams in their order of arrival, and returns complete lines.

    The lines of a stream keep their order, and no byte is lost. A newline is added only where two lines would be
    joined: after a line longer than `MOST_HELD` that the other stream interrupts, and between incomplete last lines.
    """

    def __init__(self) -> None:
        """Begin at the start of a line of each stream."""
        self._held: dict[int, bytearray] = {}
        """The incomplete lines by stream."""
        self._open: int | None = None
        """The stream with a line that was too long to keep and has not ended yet."""

    def take(self, pieces: Iterable[tuple[int, bytes]]) -> bytes:
        """Return the lines that are complete now. A piece is the number of a stream and bytes."""
        out: list[bytes | bytearray] = []
        for stream, data in pieces:
            held = self._held.get(stream)
            end = data.rfind(b"\n") + 1
            if end:
                self._end_long_line(stream, out)
                self._open = None
                if held is not None:
                    out.append(held)
                    del self._held[stream]
                if end == len(data):
                    out.append(data)
                    continue
                out.append(data[:end])
                held = self._held[stream] = bytearray(data[end:])
            elif self._open == stream:
                out.append(data)
                continue
            elif held is None:
                held = self._held[stream] = bytearray(data)
            else:
                held += data
            if len(held) > MOST_HELD:
                self._end_long_line(stream, out)
                self._open = stream
                out.append(self._held.pop(stream))
        return b"".join(out)

    def rest(self) -> bytes:
        """Return the last lines, which have no newline."""
        lines = list(self._held.values())
        if self._open is not None and lines:
            lines.insert(0, bytearray())
        self._held, self._open = {}, None
        return b"\n".join(lines)

    def _end_long_line(self, stream: int, out: list[bytes | bytearray]) -> None:
        if self._open is not None and self._open != stream:
            out.append(b"\n")
