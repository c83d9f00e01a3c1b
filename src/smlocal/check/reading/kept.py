"""What was read of an image is remembered: an image never changes, and to read a large one takes a minute."""

import hashlib
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from smlocal.check.files import Files
from smlocal.check.image_files import Entry, ImageFiles
from smlocal.check.reading.saved_image import SavedImage
from smlocal.check.subject import Step

_FORMAT = 2
"""Of the file, and of how images are read: raise it with either."""
_MOST = 30
"""Images; those that were not used for the longest time go first."""
_FOLDER = "checked-images"


def kept(home: str, image: str, wishes: Sequence[Files]) -> SavedImage | None:
    """What is remembered of an image, if it is all that is wished for."""
    path = _path(home, image, wishes)
    try:
        with open(path, encoding="ascii") as file:
            found = _decoded(json.load(file))
        os.utime(path)
    except (OSError, ValueError, LookupError, TypeError):  # absent, or damaged
        return None
    return found


def keep(home: str, image: str, wishes: Sequence[Files], saved: SavedImage) -> None:
    """Write it down. A home that does not exist or takes nothing is left alone: the next check reads again."""
    if saved.files.unread or saved.files.crowded:
        return
    path = _path(home, image, wishes)
    draft = f"{path}.{os.getpid()}.partial"
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        try:
            with open(draft, "w", encoding="ascii") as file:
                json.dump(_encoded(saved), file, separators=(",", ":"))
            os.replace(draft, path)
        except OSError:
            os.unlink(draft)
            raise
        _make_room(os.path.dirname(path))


def _path(home: str, image: str, wishes: Sequence[Files]) -> str:
    what = hashlib.sha256(repr((_FORMAT, image, wishes)).encode()).hexdigest()[:32]
    return os.path.join(home, _FOLDER, f"{what}.json")


def _make_room(folder: str) -> None:
    paths = sorted((entry.path for entry in os.scandir(folder)), key=lambda path: os.stat(path).st_mtime)
    for path in paths[:-_MOST]:
        os.unlink(path)


def _encoded(saved: SavedImage) -> dict[str, Any]:
    """Most files have one of a few owners and modes, so these are listed once."""
    kinds: dict[tuple[Any, ...], int] = {}
    folders = {
        folder: [
            [name, entry.size, kinds.setdefault((entry.kind, *entry[1:4], entry.layer), len(kinds)), entry.link]
            if entry.link
            else [name, entry.size, kinds.setdefault((entry.kind, *entry[1:4], entry.layer), len(kinds))]
            for name, entry in entries.items()
        ]
        for folder, entries in saved.files.folders.items()
    }
    return {
        "Folders": folders,
        "Kinds": list(kinds),
        "Contents": {path: b64encode(content).decode() for path, content in saved.files.contents.items()},
        "History": [[step.text, step.layer] for step in saved.history],
    }


def _decoded(document: Any) -> SavedImage:
    kinds = [tuple(kind) for kind in document["Kinds"]]
    folders: dict[str, dict[str, Entry]] = {}
    for folder, entries in document["Folders"].items():
        here = folders.setdefault(folder, {})
        for name, size, number, *link in entries:
            kind, mode, uid, gid, layer = kinds[number]
            here[name] = Entry(kind, mode, uid, gid, size, layer, link[0] if link else "")
    contents = {path: b64decode(content) for path, content in document["Contents"].items()}
    history = tuple(Step(text=text, layer=layer) for text, layer in document["History"])
    return SavedImage(files=ImageFiles(folders=folders, contents=contents), history=history)
