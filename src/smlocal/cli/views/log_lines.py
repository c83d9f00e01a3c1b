"""The lines of a log as they are printed: as the service shows them or raw, with the time and the host in front."""

from collections.abc import Iterator
from datetime import UTC, datetime

from smlocal.jobs.logs.log_readers import LogTimes
from smlocal.terms.log_view import LogView

_UNKNOWN = "unknown".ljust(len("2026-11-20T14:12:07.123Z"))
_COLOURS = ("36", "35", "32", "33", "34", "1;36", "1;35", "1;32", "1;33", "1;34")
"""Of the terminal's own colours, which people choose to be readable on their background. Red is for failures."""


class LogLines:
    """Turns the bytes of one host's log, which may come in any pieces, into what is printed."""

    def __init__(self, *, raw: bool = False, prefix: bytes = b"", times: "LogTimes | None" = None) -> None:
        """With `times`, each line is printed with the time at which its first byte came."""
        self._view = None if raw else LogView()
        self._prefix = prefix
        self._times = times
        self._begins = True
        """True if the next byte begins a line."""

    def feed(self, piece: bytes, position: int) -> bytes:
        """Return what to print for these bytes, which are at `position` of the log."""
        if self._times is None:
            return self._prefixed(self._seen(piece), self._prefix)
        parts = (
            self._prefixed(self._seen(part), stamp(at) + self._prefix) for part, at in self._timed(piece, position)
        )
        return b"".join(parts)

    def end(self) -> bytes:
        """Return the rest. If lines have a prefix, the last one gets a newline."""
        rest = b"" if self._view is None else self._view.feed(b"", last=True)
        prefix = self._prefix if self._times is None else stamp(None) + self._prefix
        shown = self._prefixed(rest, prefix)
        return shown if self._begins or not prefix else shown + b"\n"

    def _seen(self, piece: bytes) -> bytes:
        return piece if self._view is None else self._view.feed(piece)

    def _prefixed(self, data: bytes, prefix: bytes) -> bytes:
        if not data:
            return b""
        first = prefix if self._begins else b""
        self._begins = data.endswith(b"\n")
        if prefix:
            data = (
                data[:-1].replace(b"\n", b"\n" + prefix) + data[-1:]
                if self._begins
                else data.replace(b"\n", b"\n" + prefix)
            )
        return first + data

    def _timed(self, piece: bytes, position: int) -> Iterator[tuple[bytes, float | None]]:
        """Split by time."""
        assert self._times is not None  # noqa: S101 - for mypy
        start = 0
        while start < len(piece):
            at, until = self._times.at(position + start)
            end = len(piece) if until is None else min(len(piece), until - position)
            yield piece[start:end], at
            start = end


def stamp(at: float | None) -> bytes:
    """A time in front of a line, in UTC."""
    if at is None:
        return f"{_UNKNOWN} ".encode()
    moment = datetime.fromtimestamp(at, tz=UTC).isoformat(timespec="milliseconds")
    return f"{moment.removesuffix('+00:00')}Z ".encode()


def host_prefix(host: str, *, coloured: bool) -> bytes:
    """`algo-1 | `. A host always has the same colour."""
    if not coloured:
        return f"{host} | ".encode()
    number = host.rpartition("-")[2]
    colour = _COLOURS[(int(number) - 1 if number.isdecimal() else 0) % len(_COLOURS)]
    return f"\033[{colour}m{host} |\033[0m ".encode()


def prefixed_lines(prefix: bytes, lines: bytes, *, terminal: bool) -> bytes:
    """Put the prefix in front of each line. A last line without a newline gets one.

    On a `terminal` the prefix is also put after a carriage return, as progress bars write it.
    """
    if not lines:
        return b""
    lines = lines.removesuffix(b"\n")
    if terminal and b"\r" in lines:
        plain = lines.replace(b"\r\n", b"\n").removesuffix(b"\r")
        lines = plain.replace(b"\r", b"\r" + prefix)
    return prefix + lines.replace(b"\n", b"\n" + prefix) + b"\n"
