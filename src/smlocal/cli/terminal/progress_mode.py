"""How the progress of a run is shown: `--progress`."""

import os
from enum import StrEnum


class ProgressMode(StrEnum):
    """What is written to standard error."""

    TTY = "tty"
    """A line at the bottom of the terminal that changes."""
    PLAIN = "plain"
    """Only lines: one every ten seconds about something that takes long."""
    JSON = "json"
    """One JSON object for each event."""
    QUIET = "quiet"
    """Only errors, and why a job failed."""


NAMES = ("auto", *(mode.value for mode in ProgressMode))
VARIABLE = "SMLOCAL_PROGRESS"


def chosen_mode(name: str | None, *, quiet: bool) -> ProgressMode:
    """The mode; `auto` is `tty` if standard error is a terminal that can move its cursor, and `plain` otherwise."""
    if quiet:
        return ProgressMode.QUIET
    if name is not None and name != "auto":
        return ProgressMode(name)
    return ProgressMode.TTY if os.isatty(2) and os.environ.get("TERM") != "dumb" else ProgressMode.PLAIN
