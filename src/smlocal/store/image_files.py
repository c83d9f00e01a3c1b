"""Which files images have in the folders of a platform, by image id: finding them takes time; they do not change."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress

_MOST = 500
"""Images; the oldest entries are removed first."""


def image_files(home: str, image: str) -> tuple[str, ...] | None:
    """The stored files of an image; None if there is no entry."""
    files = _read(home).get(image)
    return None if files is None else tuple(files)


def store_image_files(home: str, image: str, files: Sequence[str]) -> None:
    """Store the files. If that fails, the next job looks for them again."""
    path = _path(home)
    draft = f"{path}.{os.getpid()}.partial"
    known = {**_read(home), image: list(files)}
    with suppress(OSError):
        with open(draft, "w", encoding="utf-8") as file:
            json.dump(dict(list(known.items())[-_MOST:]), file)
        os.replace(draft, path)


def _read(home: str) -> dict[str, list[str]]:
    """All entries; none if the file is damaged."""
    with suppress(OSError, ValueError), open(_path(home), encoding="utf-8") as file:
        found = json.load(file)
        if isinstance(found, dict):
            return {image: files for image, files in found.items() if isinstance(files, list)}
    return {}


def _path(home: str) -> str:
    return os.path.join(home, "images.json")
