"""Times as people read them."""

from datetime import UTC, datetime


def clock(moment: float) -> str:
    """`2026-11-20 14:12:07` in the reader's own time zone."""
    return datetime.fromtimestamp(moment, tz=UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
