"""The engine's own log of a container, asked for with timestamps: each frame is one line, or a part of a long one."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from struct import Struct
from typing import Final

from smlocal.engine.http import UnexpectedAnswerError
from smlocal.engine.whole_lines import WholeLines

_HEAD: Final = Struct(">B3xI")
_DOCKERS_PART: Final = 16 * 1024
"""Docker keeps a longer line in parts of exactly this many bytes; only the last one is shorter."""
_LONGEST: Final = 64 * 1024 * 1024
"""Bytes of a frame: engines cut lines long before."""
_SECONDS: Final = len("2026-11-20T14:12:07")


def stamped_lines(reads: Iterable[bytes], *, docker: bool) -> Iterator[tuple[float | None, bytes]]:
    """Yield whole lines and when each came; None for a frame without a time.

    Parts of a long line may have lines of the other stream between them. `docker`: the last part has lost its newline
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
            at, payload = _taken_apart(data[start:after], seconds)
            if docker and len(payload) < _DOCKERS_PART and not payload.endswith(b"\n"):
                payload += b"\n"
            if whole := lines.take(((stream, payload),)):
                yield at, whole
        kept = data[position:]
    if rest := lines.rest():
        yield at, rest


def _taken_apart(payload: bytes, seconds: dict[bytes, float]) -> tuple[float | None, bytes]:
    stamp, space, rest = payload.partition(b" ")
    second, fraction = stamp[:_SECONDS], stamp[_SECONDS:]
    if not space or fraction[-1:] != b"Z":
        return None, payload
    try:
        if second not in seconds:
            seconds.clear()  # one is enough: they only grow
            seconds[second] = datetime.fromisoformat(f"{second.decode()}+00:00").timestamp()
        return seconds[second] + float(fraction[:-1] or 0), rest
    except ValueError:
        return None, payload
