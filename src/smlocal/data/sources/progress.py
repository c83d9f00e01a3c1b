"""The progress of a download or upload, reported several times a second."""

import time
from collections import deque
from collections.abc import Callable

from smlocal.base.quick_dataclass import dataclass

_SECONDS_BETWEEN = 0.25
_REPORTS = 20
"""The rate is measured over this many reports: the last five seconds."""
_STEP = 1024
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_TEN = 10
_MINUTE, _HOUR = 60, 3600


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """The current state; bytes that need not be transferred count as done."""

    bytes: int
    total_bytes: int | None
    """None if it is not known."""
    objects: int
    total_objects: int
    """0 if only bytes are counted."""
    rate: float
    """Bytes per second, recently."""
    eta_seconds: float | None
    """None if the rest or the rate is not known."""

    def sentence(self, what: str, *, objects: str = "objects") -> str:
        """`train: 1.2 of 4.0 GiB, 120 of 400 objects, 310 MB/s, 9 s left`."""
        parts = [f"{what}: {_amount(self.bytes, self.total_bytes)}"]
        if self.total_objects:
            parts.append(f"{self.objects} of {self.total_objects} {objects}")
        if self.rate:
            parts.append(_rate(self.rate))
        if self.eta_seconds is not None:
            parts.append(f"{_duration(self.eta_seconds)} left")
        return ", ".join(parts)


class Meter:
    """Counts bytes and objects, and reports them at a limited rate."""

    def __init__(
        self,
        report: Callable[[Progress], None],
        *,
        total_bytes: int | None,
        total_objects: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`report` is not called before something was counted."""
        self._report = report
        self._total_bytes, self._total_objects = total_bytes, total_objects
        self._clock = clock
        self._bytes = self._objects = self._fetched = 0
        self._sent = deque([(clock(), 0)], maxlen=_REPORTS)

    def found(self, count: int, objects: int) -> None:
        """Count what need not be transferred, which does not change the rate."""
        self._bytes += count
        self._objects += objects

    def expect(self, total_bytes: int | None, total_objects: int | None = None) -> None:
        """Set the totals: that of bytes, or None if it is not known any more, and that of objects if it has changed."""
        self._total_bytes = total_bytes
        self._total_objects = self._total_objects if total_objects is None else total_objects

    def add(self, count: int, objects: int = 0) -> None:
        """Count bytes (a negative number if they were wrong) and completed objects."""
        self._bytes += count
        self._fetched += count
        self._objects += objects
        now = self._clock()
        if now - self._sent[-1][0] >= _SECONDS_BETWEEN:
            self._send(now)

    def finish(self) -> None:
        """Report the end."""
        self._send(self._clock())

    def _send(self, now: float) -> None:
        since, before = self._sent[0]
        rate = max(0, self._fetched - before) / (now - since) if now > since else 0.0
        left = None if self._total_bytes is None else max(0, self._total_bytes - self._bytes)
        self._sent.append((now, self._fetched))
        self._report(
            Progress(
                bytes=self._bytes,
                total_bytes=self._total_bytes,
                objects=self._objects,
                total_objects=self._total_objects,
                rate=rate,
                eta_seconds=left / rate if left is not None and rate else None,
            )
        )


def _amount(count: int, total: int | None) -> str:
    """`1.2 of 4.0 GiB`, both in the same unit."""
    largest = count if total is None else max(count, total)
    unit = 0
    while largest >= _STEP ** (unit + 1) and unit < len(_UNITS) - 1:
        unit += 1
    size = _STEP**unit
    digits = 1 if unit and largest / size < _TEN else 0
    parts = f"{count / size:.{digits}f}"
    return f"{parts} {_UNITS[unit]}" if total is None else f"{parts} of {total / size:.{digits}f} {_UNITS[unit]}"


def _rate(rate: float) -> str:
    return f"{rate / 1e6:.0f} MB/s" if rate >= _TEN * 1e6 else f"{rate / 1e6:.1f} MB/s"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min"
    return f"{seconds // _HOUR:.0f} h {seconds % _HOUR // _MINUTE:.0f} min"
