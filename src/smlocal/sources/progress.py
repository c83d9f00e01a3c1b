"""How far something slow is, a download or an upload, told some times a second."""

import time
from collections import deque
from collections.abc import Callable

from smlocal.quick_dataclass import dataclass

_SECONDS_BETWEEN = 0.25
_REMEMBERED = 20
"""The rate is that of so many reports: the last five seconds."""
_STEP = 1024
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_TEN = 10
_MINUTE, _HOUR = 60, 3600


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """One moment of it; what need not be moved counts as done."""

    bytes: int
    total_bytes: int | None
    """None where it is not known, or not yet."""
    objects: int
    total_objects: int
    """0 where it is about bytes alone."""
    rate: float
    """Bytes a second, of late."""
    eta_seconds: float | None
    """None where the rest or the rate is not known."""

    def sentence(self, what: str) -> str:
        """`train: 1.2 of 4.0 GiB, 120 of 400 objects, 310 MB/s, 9 s left`."""
        said = [f"{what}: {_amount(self.bytes, self.total_bytes)}"]
        if self.total_objects:
            said.append(f"{self.objects} of {self.total_objects} objects")
        if self.rate:
            said.append(_rate(self.rate))
        if self.eta_seconds is not None:
            said.append(f"{_duration(self.eta_seconds)} left")
        return ", ".join(said)


class Meter:
    """Adds up what comes and passes it on, not too often."""

    def __init__(
        self,
        report: Callable[[Progress], None],
        *,
        total_bytes: int | None,
        total_objects: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`report` is first called when something has come, or a moment later."""
        self._report = report
        self._total_bytes, self._total_objects = total_bytes, total_objects
        self._clock = clock
        self._bytes = self._objects = self._fetched = 0
        self._told = deque([(clock(), 0)], maxlen=_REMEMBERED)

    def found(self, count: int, objects: int) -> None:
        """So much need not be fetched; nothing that a rate is made of."""
        self._bytes += count
        self._objects += objects

    def expect(self, total_bytes: int | None) -> None:
        """By now it is known how much there is, or no longer."""
        self._total_bytes = total_bytes

    def add(self, count: int, objects: int = 0) -> None:
        """So many bytes more, or fewer where they proved wrong, and so many objects that are complete with them."""
        self._bytes += count
        self._fetched += count
        self._objects += objects
        now = self._clock()
        if now - self._told[-1][0] >= _SECONDS_BETWEEN:
            self._tell(now)

    def finish(self) -> None:
        """Everything is here."""
        self._tell(self._clock())

    def _tell(self, now: float) -> None:
        since, before = self._told[0]
        rate = max(0, self._fetched - before) / (now - since) if now > since else 0.0
        left = None if self._total_bytes is None else max(0, self._total_bytes - self._bytes)
        self._told.append((now, self._fetched))
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
    """`1.2 of 4.0 GiB`: both in the unit of the larger."""
    largest = count if total is None else max(count, total)
    unit = 0
    while largest >= _STEP ** (unit + 1) and unit < len(_UNITS) - 1:
        unit += 1
    size = _STEP**unit
    digits = 1 if unit and largest / size < _TEN else 0
    said = f"{count / size:.{digits}f}"
    return f"{said} {_UNITS[unit]}" if total is None else f"{said} of {total / size:.{digits}f} {_UNITS[unit]}"


def _rate(rate: float) -> str:
    return f"{rate / 1e6:.0f} MB/s" if rate >= _TEN * 1e6 else f"{rate / 1e6:.1f} MB/s"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min"
    return f"{seconds // _HOUR:.0f} h {seconds % _HOUR // _MINUTE:.0f} min"
