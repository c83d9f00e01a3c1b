"""What is remembered of images by their ids: it never changes for one id, and finding it out takes time."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress

_MOST = 500
"""Images; those that were looked at first are forgotten first."""


def remembered(home: str, image: str) -> tuple[str, ...] | None:
    """Its files below `/opt/ml`, as they were found; None for an image that nobody has looked at."""
    files = _read(home).get(image)
    return None if files is None else tuple(files)


def remember(home: str, image: str, files: Sequence[str]) -> None:
    """Write it down. A home that does not exist or takes nothing is left alone: the next job looks again."""
    path = _path(home)
    draft = f"{path}.{os.getpid()}.partial"
    known = {**_read(home), image: list(files)}
    with suppress(OSError):
        with open(draft, "w", encoding="utf-8") as file:
            json.dump(dict(list(known.items())[-_MOST:]), file)
        os.replace(draft, path)


def _read(home: str) -> dict[str, list[str]]:
    """Everything; nothing of a file that is damaged."""
    with suppress(OSError, ValueError), open(_path(home), encoding="utf-8") as file:
        found = json.load(file)
        if isinstance(found, dict):
            return {image: files for image, files in found.items() if isinstance(files, list)}
    return {}


def _path(home: str) -> str:
    return os.path.join(home, "images.json")
