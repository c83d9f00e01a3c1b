"""Reads the output of a container from the engine's frames, while it is attached or from the engine's log.

The lines of both streams are put together from the pieces that arrive.
"""

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Final

from smlocal.engine.http import Answer, UnexpectedAnswerError
from smlocal.engine.interface import Written

_HEAD: Final = Struct(">B3xI")
"""The head of a frame: number of the stream, three zeros, length of the payload."""
MOST_HELD: Final = 1 << 20
"""The maximum size of an incomplete line. A longer line is passed on in pieces."""
_DOCKERS_PART: Final = 16 * 1024
"""Docker splits longer lines into parts of exactly this size; only the last part is shorter."""
_LONGEST: Final = 64 * 1024 * 1024
"""The maximum size of a frame. Engines split lines long before."""
_SECONDS: Final = len("2026-11-20T14:12:07")


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


def timestamped_lines(reads: Iterable[bytes], *, docker: bool) -> Iterator[tuple[float | None, bytes]]:
    """Yield the complete lines of a log with timestamps, and their times; None for a frame without a time.

    Each frame is a line or a part of a long line, and between such parts there may be lines of the other stream.
    `docker`: the last part has no newline (seen with Docker 20.10).
    """
    seconds: dict[bytes, float] = {}
    lines = WholeLines()
    at: float | None = None
    kept = b""
    for read in reads:
        data = kept + read if kept else read
        position, end = 0, len(data)
        while position + _HEAD.size <= end:
            start = position + _HEAD.size
            stream, size = _HEAD.unpack_from(data, position)
            after = start + size
            if after > end:
                if after - start > _LONGEST:
                    raise UnexpectedAnswerError(f"a line of {after - start} bytes")
                break
            position = after
            at, payload = _time_and_text(data[start:after], seconds)
            if docker and len(payload) < _DOCKERS_PART and not payload.endswith(b"\n"):
                payload += b"\n"
            if whole := lines.take(((stream, payload),)):
                yield at, whole
        kept = data[position:]
    if rest := lines.rest():
        yield at, rest


def _time_and_text(payload: bytes, seconds: dict[bytes, float]) -> tuple[float | None, bytes]:
    stamp, space, rest = payload.partition(b" ")
    second, fraction = stamp[:_SECONDS], stamp[_SECONDS:]
    if not space or fraction[-1:] != b"Z":
        return None, payload
    try:
        if second not in seconds:
            seconds.clear()  # only the latest second is needed
            from datetime import datetime  # jobs whose first supervisor lives read no log

            seconds[second] = datetime.fromisoformat(f"{second.decode()}+00:00").timestamp()
        return seconds[second] + float(fraction[:-1] or 0), rest
    except ValueError:
        return None, payload
