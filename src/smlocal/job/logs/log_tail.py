"""The end of a log, as the service would show it."""

import os
from dataclasses import dataclass

from smlocal.contract.log_view import view_of

_MAX_LINES = 40
_MAX_BYTES = 1 << 18
_MAX_LENGTH = 2000
"""Characters of a line that are shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogTail:
    """The last lines of the log of one host."""

    host: str
    path: str
    lines: tuple[str, ...]
    complete: bool
    """True if these are all lines of the log."""


def read_log_tail(host: str, path: str) -> LogTail | None:
    """Read the end of a log. None if there is no log."""
    try:
        with open(path, "rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(0, size - _MAX_BYTES))
            data = log.read(_MAX_BYTES)
    except OSError:
        return None
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    complete = size <= _MAX_BYTES
    if not complete and len(lines) > 1:
        lines = lines[1:]  # its beginning was not read
    shown = tuple(_shortened(view_of(line)) for line in lines[-_MAX_LINES:])
    return LogTail(host=host, path=path, lines=shown, complete=complete and len(lines) <= _MAX_LINES)


def _shortened(line: str) -> str:
    if len(line) <= _MAX_LENGTH:
        return line
    return f"{line[:_MAX_LENGTH]} … ({len(line) - _MAX_LENGTH:,} more characters)"
