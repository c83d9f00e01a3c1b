"""Times and figures as the page shows them: for a reader who may be anywhere, so in UTC."""

from datetime import UTC, datetime

_MINUTE = 60
_HOUR = 3600
_DAY = 86_400
_FEW = 10


def moment(at: float) -> str:
    """`2026-11-20 14:12:07 UTC`."""
    return datetime.fromtimestamp(at, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def span(seconds: float) -> str:
    """`4.2 s`, `3 min 20 s`, `5 h 3 min`."""
    seconds = max(0.0, seconds)
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{seconds:.1f} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    if whole < _DAY:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
    return f"{whole // _DAY} d {whole % _DAY // _HOUR} h"


def whole_span(seconds: int) -> str:
    """As `span`, of what is counted in whole seconds."""
    return f"{seconds} s" if seconds < _MINUTE else span(seconds)


def clean_span(seconds: float) -> str:
    """As `span`, for the end of an axis: whole seconds from ten on."""
    return f"{seconds:.0f} s" if _FEW <= seconds < _MINUTE - 0.5 else span(seconds)


def figure(value: float) -> str:
    """A metric's value in full single precision's worth of digits that people read."""
    return f"{value:.6g}"


def short_figure(value: float) -> str:
    """For the margin of a curve."""
    return f"{value:.4g}"


def counted(count: int, what: str) -> str:
    """`1 value`, `1,200 values`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
