"""The end of a log as the service would show it."""

import os

from smlocal.contract.log_view import view_of
from smlocal.quick_dataclass import dataclass

_LINES = 40
_BYTES = 1 << 18
_LONGEST = 2000
"""Characters of one line: a page is no place for a line of 50 MB."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogTail:
    """What is shown of the log of one host."""

    host: str
    path: str
    lines: tuple[str, ...]
    whole: bool
    """True when these are all the lines there are."""


def log_tail(host: str, path: str) -> LogTail | None:
    """Read the end of a log; None where there is no log."""
    try:
        with open(path, "rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(0, size - _BYTES))
            data = log.read(_BYTES)
    except OSError:
        return None
    found = data.removesuffix(b"\n").split(b"\n") if data else []
    cut = size > _BYTES
    if cut and len(found) > 1:
        found = found[1:]  # the first began before what was read
    lines = tuple(_shortened(view_of(line)) for line in found[-_LINES:])
    return LogTail(host=host, path=path, lines=lines, whole=not cut and len(found) <= _LINES)


def _shortened(line: str) -> str:
    if len(line) <= _LONGEST:
        return line
    return f"{line[:_LONGEST]} … ({len(line) - _LONGEST:,} more characters)"
