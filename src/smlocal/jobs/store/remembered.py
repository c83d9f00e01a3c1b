"""Facts about images and engines that were found out once: JSON files with a limited number of entries.

Which files an image has in the folders of a platform does not change. Results of trials with an engine are stored by
its identity, which another start of it changes.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from smlocal.base.files import replace_file

_MOST_IMAGES = 500
_MOST_ENGINES = 200


def image_files(home: str, image: str) -> tuple[str, ...] | None:
    """The stored files of an image; None if there is no entry."""
    files = _images(home).get(image)
    return None if files is None else tuple(files)


def store_image_files(home: str, image: str, files: Sequence[str]) -> None:
    """Store the files. If that fails, the next job looks for them again."""
    _images(home).put(image, list(files))


def image_program(home: str, image: str, program: str) -> str | None:
    """The stored path of an image's program; empty: the image lacks it; None: not stored."""
    found = _images(home).get(f"{image} {program}")
    return None if found is None else "".join(found)


def store_image_program(home: str, image: str, program: str, path: str) -> None:
    """Store the path."""
    _images(home).put(f"{image} {program}", [path])


class Remembered:
    """A file that may be absent, damaged, or written by another process at the same time: then less is remembered."""

    def __init__(self, path: str, *, most: int, kind: type) -> None:
        """`most` entries are kept, those that were written last. Entries that are no `kind` are left out."""
        self._path, self._most, self._kind = path, most, kind

    def get(self, key: str) -> Any:
        """The entry; None if there is none."""
        return self._read().get(key)

    def put(self, key: str, entry: Any) -> None:
        """Store an entry. If that fails, the next caller finds out again."""
        known = self._read()
        known.pop(key, None)
        known[key] = entry
        with suppress(OSError):
            replace_file(self._path, json.dumps(dict(list(known.items())[-self._most :])).encode())

    def _read(self) -> dict[str, Any]:
        with suppress(OSError, ValueError, RecursionError), open(self._path, encoding="utf-8") as file:
            found = json.load(file)
            if isinstance(found, dict):
                return {key: entry for key, entry in found.items() if isinstance(entry, self._kind)}
        return {}


def _images(home: str) -> Remembered:
    return Remembered(os.path.join(home, "images.json"), most=_MOST_IMAGES, kind=list)


def tried(home: str, key: str) -> Mapping[str, Any] | None:
    """The remembered result; None if there is no entry."""
    found: Mapping[str, Any] | None = _engines(home).get(key)
    return found


def remember_tried(home: str, key: str, found: Mapping[str, Any]) -> None:
    """Store an entry. If that fails, or another process writes at the same time, the next job tries again."""
    _engines(home).put(key, dict(found))


def _engines(home: str) -> Remembered:
    return Remembered(os.path.join(home, "engines.json"), most=_MOST_ENGINES, kind=dict)
