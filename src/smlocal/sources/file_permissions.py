"""Sizes and modes of files, and whether this user may read them."""

import os
from collections.abc import Sequence
from contextlib import suppress

MAX_CHECKED = 10_000
"""Of more files only a sample is checked, and sizes are not added up."""
_SAMPLE = 1_000
SERVICE_MODE = 0o644
_PERMISSIONS = 0o7777


def sizes_and_modes(root: str, paths: Sequence[str]) -> tuple[int | None, int]:
    """Return the total bytes, or None for a long list, and how many checked files do not have the service's mode."""
    short = len(paths) <= MAX_CHECKED
    total = unlike = 0
    for path in paths if short else paths[:_SAMPLE]:
        with suppress(OSError):  # deleted meanwhile: staging reports it
            status = os.stat(f"{root}/{path}")
            total += status.st_size
            unlike += status.st_mode & _PERMISSIONS != SERVICE_MODE
    return (total if short else None), unlike


def unreadable(root: str, paths: Sequence[str]) -> list[str]:
    """Files this user may not read. The engine, which mounts as root, would show them."""
    if os.geteuid() == 0:
        return []
    return [path for path in paths if not readable(f"{root}/{path}")]


def readable(path: str) -> bool:
    """Whether this process's effective user may read it."""
    return os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids)
