"""Parses the engine's log of a container with timestamps: each frame is a line or a part of a long line."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from struct import Struct
from typing import Final

from smlocal.engine.http import UnexpectedAnswerError
from smlocal.engine.whole_lines import WholeLines

_HEAD: Final = Struct(">B3xI")
_DOCKERS_PART: Final = 16 * 1024
"""Docker splits longer lines into parts of exactly this size; only the last part is shorter."""
_LONGEST: Final = 64 * 1024 * 1024
"""The maximum size of a frame. Engines split lines long before."""
_SECONDS: Final = len("2026-11-20T14:12:07")


def timestamped_lines(reads: Iterable[bytes], *, docker: bool) -> Iterator[tuple[float | None, bytes]]:
    """Yield complete lines with their times; None for a frame without a time.

    Between the parts of a long line there may be lines of the other stream. `docker`: the last part has no newline
    (seen with Docker 20.10).
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
            seconds[second] = datetime.fromisoformat(f"{second.decode()}+00:00").timestamp()
        return seconds[second] + float(fraction[:-1] or 0), rest
    except ValueError:
        return None, payload
