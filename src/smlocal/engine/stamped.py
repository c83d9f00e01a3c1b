"""The engine's own log of a container, asked for with timestamps: each frame is one line, or a part of a long one."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from struct import Struct
from typing import Final

_HEAD: Final = Struct(">4xI")
_SECONDS: Final = len("2026-11-20T14:12:07")


def stamped_payloads(reads: Iterable[bytes]) -> Iterator[tuple[float | None, bytes]]:
    """Take frames apart into when the engine got them and what is in them; a frame without a time has None."""
    seconds: dict[bytes, float] = {}
    kept = b""
    for read in reads:
        data = kept + read if kept else read
        position, end = 0, len(data)
        while position + _HEAD.size <= end:
            start = position + _HEAD.size
            after = start + _HEAD.unpack_from(data, position)[0]
            if after > end:
                break
            position = after
            yield _taken_apart(data[start:after], seconds)
        kept = data[position:]


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
