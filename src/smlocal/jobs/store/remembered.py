"""What was found out about images and engines and is remembered in the home, so that it is found out once.

Which files an image has in the folders of a platform does not change. What was tried with an engine is stored by its
identity, which another start of it changes.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from smlocal.base.remembered import Remembered

_MOST_IMAGES = 500
_MOST_ENGINES = 200


def image_files(home: str, image: str) -> tuple[str, ...] | None:
    """The stored files of an image; None if there is no entry."""
    files = _images(home).get(image)
    return None if files is None else tuple(files)


def store_image_files(home: str, image: str, files: Sequence[str]) -> None:
    """Store the files. If that fails, the next job looks for them again."""
    _images(home).put(image, list(files))


def _images(home: str) -> Remembered:
    return Remembered(os.path.join(home, "images.json"), most=_MOST_IMAGES, kind=list)


def tried(home: str, key: str) -> Mapping[str, Any] | None:
    """What is remembered; None if there is no entry."""
    found: Mapping[str, Any] | None = _engines(home).get(key)
    return found


def remember_tried(home: str, key: str, found: Mapping[str, Any]) -> None:
    """Store an entry. If that fails, or another process writes at the same time, the next job tries again."""
    _engines(home).put(key, dict(found))


def _engines(home: str) -> Remembered:
    return Remembered(os.path.join(home, "engines.json"), most=_MOST_ENGINES, kind=dict)
