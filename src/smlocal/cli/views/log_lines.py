"""What is printed of a log: the service's view of it or its raw bytes, with the host and the time in front of lines."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from smlocal.contract.log_view import LogView

if TYPE_CHECKING:
    from smlocal.job.logs.log_times import LogTimes

_UNKNOWN = "unknown".ljust(len("2026-11-20T14:12:07.123Z"))


class LogLines:
    """Turns the bytes of one host's log into what is printed of it, whatever pieces they come in."""

    def __init__(self, *, raw: bool = False, mark: bytes = b"", times: "LogTimes | None" = None) -> None:
        """With `times`, each line is printed with the time at which its first byte came."""
        self._view = None if raw else LogView()
        self._mark = mark
        self._times = times
        self._begins = True
        """True where the next byte begins a line."""

    def feed(self, piece: bytes, position: int) -> bytes:
        """Return what to print for bytes that stand at `position` of the log."""
        if self._times is None:
            return self._marked(self._seen(piece), self._mark)
        parts = (self._marked(self._seen(part), _stamp(at) + self._mark) for part, at in self._timed(piece, position))
        return b"".join(parts)

    def end(self) -> bytes:
        """Return what was held back; a last line with something in front gets an end."""
        rest = b"" if self._view is None else self._view.feed(b"", last=True)
        prefix = self._mark if self._times is None else _stamp(None) + self._mark
        shown = self._marked(rest, prefix)
        return shown if self._begins or not prefix else shown + b"\n"

    def _seen(self, piece: bytes) -> bytes:
        return piece if self._view is None else self._view.feed(piece)

    def _marked(self, data: bytes, prefix: bytes) -> bytes:
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
        """Cut where bytes begin that came later."""
        assert self._times is not None  # noqa: S101 - for mypy
        start = 0
        while start < len(piece):
            at, until = self._times.at(position + start)
            end = len(piece) if until is None else min(len(piece), until - position)
            yield piece[start:end], at
            start = end


def _stamp(at: float | None) -> bytes:
    if at is None:
        return f"{_UNKNOWN} ".encode()
    moment = datetime.fromtimestamp(at, tz=UTC).isoformat(timespec="milliseconds")
    return f"{moment.removesuffix('+00:00')}Z ".encode()
