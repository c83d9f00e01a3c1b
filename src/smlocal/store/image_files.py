"""Which files images have in the folders of a platform, by image id: finding them takes time; they do not change."""

import os
from collections.abc import Sequence

from smlocal.base.remembered import Remembered

_MOST = 500


def image_files(home: str, image: str) -> tuple[str, ...] | None:
    """The stored files of an image; None if there is no entry."""
    files = _images(home).get(image)
    return None if files is None else tuple(files)


def store_image_files(home: str, image: str, files: Sequence[str]) -> None:
    """Store the files. If that fails, the next job looks for them again."""
    _images(home).put(image, list(files))


def _images(home: str) -> Remembered:
    return Remembered(os.path.join(home, "images.json"), most=_MOST, kind=list)
