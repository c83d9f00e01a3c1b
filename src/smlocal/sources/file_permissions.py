"""A closer look at files that were found: sizes, modes, and whether this user may read them."""

import os
from collections.abc import Sequence
from contextlib import suppress

LOOKED_AT = 10_000
"""Beyond this many files the look would cost more than it tells: a sample says what modes there are."""
_SAMPLE = 1_000
SERVICE_MODE = 0o644
_PERMISSIONS = 0o7777


def sizes_and_modes(root: str, paths: Sequence[str]) -> tuple[int | None, int]:
    """Return the total bytes, or None for a long list, and how many of those looked at lack the service's mode."""
    short = len(paths) <= LOOKED_AT
    total = unlike = 0
    for path in paths if short else paths[:_SAMPLE]:
        with suppress(OSError):  # gone since: staging will say so
            status = os.stat(f"{root}/{path}")
            total += status.st_size
            unlike += status.st_mode & _PERMISSIONS != SERVICE_MODE
    return (total if short else None), unlike


def unreadable(root: str, paths: Sequence[str]) -> list[str]:
    """Files this user may not read. The engine mounts as root, so it would show them all the same."""
    if os.geteuid() == 0:
        return []
    return [path for path in paths if not readable(f"{root}/{path}")]


def readable(path: str) -> bool:
    """True when the user, in the role they have now, may read it."""
    return os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids)
