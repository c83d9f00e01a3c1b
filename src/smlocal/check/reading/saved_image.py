"""The archive that an engine makes of an image: layers and documents, in an order of its own.

Which layer lies on which is known only at the end, when the manifest has come. So each layer is read as it streams by,
and they are put together afterwards.
"""

import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from smlocal.check.files import Wanted
from smlocal.check.image_files import ImageFiles
from smlocal.check.reading.layers import Layer, Room, merged, read_layer
from smlocal.check.reading.stream import CutShortError, Stream, inflated
from smlocal.check.reading.tar_entries import BLOCK, NoTarError, is_tar, tar_entries
from smlocal.check.subject import Step
from smlocal.quick_dataclass import dataclass

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_MOST_DOCUMENT = 8 << 20
_MANIFEST = "manifest.json"
_MOST_LINKS = 8


class BrokenImageError(Exception):
    """The archive is not what an engine makes of an image; the text says how, as a clause."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedImage:
    """What was kept of an image."""

    files: ImageFiles
    history: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Unread:
    """A layer that was passed over."""

    why: str


def read_saved_image(pieces: Iterable[bytes], wanted: Wanted, *, image: str) -> SavedImage:
    """Read the archive of one image; `image` is its id."""
    stream, parts = Stream(pieces), _Parts(wanted=wanted)
    try:
        for entry in tar_entries(stream):
            name = posixpath.normpath(entry.name)
            if entry.kind == "link":
                parts.links[name] = posixpath.normpath(posixpath.join(posixpath.dirname(name), entry.link))
            elif entry.kind == "hard":
                parts.links[name] = posixpath.normpath(entry.link)
            elif entry.kind == "file":
                parts.read(stream, name, entry.size)
            else:
                stream.skip(entry.size)
    except NoTarError as error:
        raise BrokenImageError("what came is not the archive of an image") from error
    except CutShortError as error:
        raise BrokenImageError("the archive of the image ends too early") from error
    _pass_over(stream)  # what fills the archive up, so that the engine is not left with it
    return _together(parts, image)


def read_root(pieces: Iterable[bytes], wanted: Wanted) -> ImageFiles:
    """Read the archive of the root folder of a container."""
    stream = Stream(pieces)
    try:
        layer = read_layer(stream, b"", wanted, Room())
    except (NoTarError, CutShortError) as error:
        raise BrokenImageError("the files of a container of the image did not come whole") from error
    _pass_over(stream)
    return merged([layer], numbered=False)


@dataclass(kw_only=True, slots=True)
class _Parts:
    """What has come so far, by its name in the archive."""

    wanted: Wanted
    room: Room = field(default_factory=Room)
    layers: dict[str, Layer | _Unread] = field(default_factory=dict)
    documents: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def read(self, stream: Stream, name: str, size: int) -> None:
        """A layer, whatever it is called, or a document."""
        first = stream.exactly(min(size, BLOCK))
        rest = size - len(first)
        if is_tar(first):
            part = Stream(stream.take(rest))
            self.layers[name] = self._layer(part, first)
            _pass_over(part)
        elif first.startswith(_GZIP):
            part = Stream(_joined(first, stream.take(rest)))
            unpacked = Stream(inflated(part.take(size)))
            self.layers[name] = self._layer(unpacked, b"")
            _pass_over(part)
        elif first.startswith(_ZSTD):
            self.layers[name] = _Unread(why="a layer of the image is compressed with zstd, which smlocal does not read")
            stream.skip(rest)
        elif size <= _MOST_DOCUMENT:
            self.documents[name] = first + stream.exactly(rest)
        else:
            self.layers[name] = _Unread(why="a layer of the image has a format that smlocal does not read")
            stream.skip(rest)

    def _layer(self, stream: Stream, first: bytes) -> Layer | _Unread:
        try:
            return read_layer(stream, first, self.wanted, self.room)
        except (NoTarError, CutShortError):
            return _Unread(why="a layer of the image is damaged")

    def followed(self, name: str) -> str:
        """The name of the part itself, where this is another name for it."""
        name = posixpath.normpath(name)
        for _ in range(_MOST_LINKS):
            if name not in self.links:
                break
            name = self.links[name]
        return name

    def document(self, name: str) -> Any:
        """A JSON document; None where there is none of this name."""
        try:
            return json.loads(self.documents.get(self.followed(name), b"")) if name else None
        except (ValueError, RecursionError):
            return None


def _joined(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _pass_over(stream: Stream) -> None:
    for _ in stream.take(1 << 62):
        pass


def _together(parts: _Parts, image: str) -> SavedImage:
    manifest = _manifest(parts, image)
    found: list[Layer] = []
    unread: list[str] = []
    for name in map(str, _listed(manifest, "Layers")):
        place = parts.followed(name)
        layer = parts.layers.get(place)
        if layer is None:
            if place not in parts.documents:
                raise BrokenImageError(f"the archive of the image lacks its layer {name}")
            layer = _Unread(why="a layer of the image has a format that smlocal does not read")
        if isinstance(layer, _Unread):
            unread.append(layer.why)
            layer = Layer()
        # One that stands in several places is needed whole each time, and putting them together takes them apart.
        found.append(_copy(layer) if any(layer is other for other in found) else layer)
    history = _history(parts.document(str(manifest.get("Config") or "")))
    return SavedImage(files=merged(found, unread), history=history)


def _copy(layer: Layer) -> Layer:
    return Layer(
        entries=list(layer.entries),
        hard_links=layer.hard_links,
        removed=layer.removed,
        opaque=layer.opaque,
        contents=dict(layer.contents),
    )


def _manifest(parts: _Parts, image: str) -> Mapping[str, Any]:
    """Of several images the one that was asked for: its configuration has its id for a name."""
    listed = parts.document(_MANIFEST)
    images = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if not images:
        raise BrokenImageError("the archive of the image has no manifest")
    digest = image.rpartition(":")[2]
    return next((each for each in images if digest and digest in str(each.get("Config"))), images[0])


def _history(configuration: Any) -> tuple[Step, ...]:
    """The instructions with the layers that they made; nothing of these where they do not add up."""
    steps: list[Step] = []
    layer = 0
    for each in _listed(configuration, "history"):
        step = each if isinstance(each, dict) else {}
        makes = not step.get("empty_layer")
        steps.append(Step(text=str(step.get("created_by") or ""), layer=layer if makes else None))
        layer += makes
    root = configuration.get("rootfs") if isinstance(configuration, dict) else None
    if layer == len(_listed(root, "diff_ids")):
        return tuple(steps)
    return tuple(Step(text=step.text) for step in steps)


def _listed(document: Any, member: str) -> Sequence[Any]:
    found = document.get(member) if isinstance(document, dict) else None
    return found if isinstance(found, list) else ()
