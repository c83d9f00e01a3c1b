"""Bytes, times and paths as people read them."""

import os.path
from datetime import UTC, datetime

_STEP = 1024


def readable_bytes(count: int) -> str:
    """`12 KiB`, `1.4 GiB`."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < _STEP:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"  # noqa: PLR2004 - two digits
        size /= _STEP
    return f"{size:.1f} TiB"


def local_time(seconds: float) -> str:
    """`2026-11-20 14:12:07`, in the time zone of this machine."""
    return datetime.fromtimestamp(seconds, tz=UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def short_path(path: str) -> str:
    """`./out/…` for a path below the current folder; other paths unchanged."""
    try:
        relative = os.path.relpath(path)
    except FileNotFoundError:  # the current folder was deleted
        return path
    return path if relative.startswith("..") else "." if relative == "." else f"./{relative}"


def ago(seconds: float) -> str:
    """How long ago something was, in one unit."""
    for size, unit in ((86400, "day"), (3600, "h"), (60, "min")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{counted(count, unit) if unit == 'day' else f'{count} {unit}'} ago"
    return "just now"


def counted(count: int, noun: str) -> str:
    """`1 object`, `2,000 objects`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def in_one_line(text: str | None) -> str:
    """A text of several lines, such as a reason, in one."""
    return " ".join((text or "").split()).replace(": ,", ":").replace(" ,", ",")
