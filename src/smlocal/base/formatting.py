"""Times and numbers as reports show them. Times are UTC: the reader may be anywhere."""

from datetime import UTC, datetime

_MINUTE = 60
_HOUR = 3600
_DAY = 86_400


def utc(time: float) -> str:
    """`2026-11-20 14:12:07 UTC`."""
    return datetime.fromtimestamp(time, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def duration(seconds: float) -> str:
    """`4.2 s`, `3 min 20 s`, `5 h 3 min`; `4 s` for whole numbers of type int."""
    if isinstance(seconds, int) and seconds < _MINUTE:
        return f"{seconds} s"
    seconds = max(0.0, seconds)
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{seconds:.1f} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    if whole < _DAY:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
    return f"{whole // _DAY} d {whole % _DAY // _HOUR} h"


def axis_duration(seconds: float) -> str:
    """As `duration`, but in whole seconds from 10 s on."""
    return duration(round(seconds) if seconds >= 10 else seconds)  # noqa: PLR2004 - two digits


def number(value: float) -> str:
    """The value of a metric."""
    return f"{value:.6g}"


def short_number(value: float) -> str:
    """The value of a metric at an axis."""
    return f"{value:.4g}"
