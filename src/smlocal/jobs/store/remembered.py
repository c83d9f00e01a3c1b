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


def known_image(home: str, image: str) -> tuple[tuple[str, ...], str] | None:
    """The stored files of an image, and the path of the program that answers requests, empty if it has none.

    None if there is no entry.
    """
    match _images(home).get(image):
        case {"Files": [*files], "Serve": str(serve)}:
            return tuple(files), serve
        case _:
            return None


def store_known_image(home: str, image: str, files: Sequence[str], serve: str) -> None:
    """Store both. If that fails, the next job looks for them again."""
    _images(home).put(image, {"Files": list(files), "Serve": serve})


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
    return Remembered(os.path.join(home, "images.json"), most=_MOST_IMAGES, kind=dict)


def tried(home: str, key: str) -> Mapping[str, Any] | None:
    """The remembered result; None if there is no entry."""
    found: Mapping[str, Any] | None = _engines(home).get(key)
    return found


def remember_tried(home: str, key: str, found: Mapping[str, Any]) -> None:
    """Store an entry. If that fails, or another process writes at the same time, the next job tries again."""
    _engines(home).put(key, dict(found))


def _engines(home: str) -> Remembered:
    return Remembered(os.path.join(home, "engines.json"), most=_MOST_ENGINES, kind=dict)
