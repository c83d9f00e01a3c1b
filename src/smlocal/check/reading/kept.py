"""What was read of an image is remembered: an image never changes, and to read a large one takes a minute."""

import hashlib
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from smlocal.base.files import replacement
from smlocal.check.files import Files
from smlocal.check.image_files import Entry, ImageFiles
from smlocal.check.reading.saved_image import SavedImage
from smlocal.check.subject import Step

_FORMAT = 3
"""Of the file, and of how images are read: raise it with either."""
_MOST = 30
"""Images; those that were not used for the longest time go first."""
_FOLDER = "checked-images"
_CONTENTS, _END = "contents", "end"
"""Lines between the parts; the last says that the file is whole."""


def kept(home: str, image: str, wishes: Sequence[Files]) -> SavedImage | None:
    """What is remembered of an image, if it is all that is wished for."""
    path = _path(home, image, wishes)
    try:
        with open(path, encoding="ascii") as file:
            found = _read(map(json.loads, file))
        os.utime(path)
    except (OSError, ValueError, LookupError, TypeError, StopIteration):  # absent, or damaged
        return None
    return found


def keep(home: str, image: str, wishes: Sequence[Files], saved: SavedImage) -> None:
    """Write it down. A home that does not exist or takes nothing is left alone: the next check reads again."""
    if saved.files.unread or saved.files.crowded:
        return
    path = _path(home, image, wishes)
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with replacement(path) as file:
            file.writelines(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in _lines(saved))
        _make_room(os.path.dirname(path))


def _path(home: str, image: str, wishes: Sequence[Files]) -> str:
    what = hashlib.sha256(repr((_FORMAT, image, wishes)).encode()).hexdigest()[:32]
    return os.path.join(home, _FOLDER, f"{what}.jsonl")


def _make_room(folder: str) -> None:
    paths = sorted((entry.path for entry in os.scandir(folder)), key=lambda path: os.stat(path).st_mtime)
    for path in paths[:-_MOST]:
        os.unlink(path)


def _lines(saved: SavedImage) -> Iterator[Any]:
    """One after another, so that neither side holds it all twice. Most files have one of a few owners and modes."""
    kinds: dict[tuple[Any, ...], int] = {}
    for entries in saved.files.folders.values():
        for entry in entries.values():
            kinds.setdefault(_kind(entry), len(kinds))
    yield [list(kinds), [[step.text, step.layer] for step in saved.history]]
    for folder, entries in saved.files.folders.items():
        yield [
            folder,
            [
                [name, entry.size, kinds[_kind(entry)], *([entry.link] if entry.link else [])]
                for name, entry in entries.items()
            ],
        ]
    yield _CONTENTS
    for path, content in saved.files.contents.items():
        yield [path, b64encode(content).decode()]
    yield _END


def _kind(entry: Entry) -> tuple[Any, ...]:
    return (entry.kind, entry.mode, entry.uid, entry.gid, entry.layer)


def _read(lines: Iterator[Any]) -> SavedImage:
    listed, history = next(lines)
    kinds = [tuple(kind) for kind in listed]
    folders: dict[str, dict[str, Entry]] = {}
    for line in lines:
        if line == _CONTENTS:
            break
        folder, entries = line
        here = folders.setdefault(folder, {})
        for name, size, number, *link in entries:
            kind, mode, uid, gid, layer = kinds[number]
            here[name] = Entry(kind, mode, uid, gid, size, layer, link[0] if link else "")
    contents: dict[str, bytes] = {}
    for line in lines:
        if line == _END:
            break
        path, content = line
        contents[path] = b64decode(content)
    else:
        raise ValueError
    steps = tuple(Step(text=text, layer=layer) for text, layer in history)
    return SavedImage(files=ImageFiles(folders=folders, contents=contents), history=steps)
