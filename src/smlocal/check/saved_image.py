"""The archive that an engine makes of an image: layers and documents, in an order of its own.

Which layer lies on which is known only at the end, when the manifest has come. So each layer is read as it streams by,
and they are put together afterwards.
"""

import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from smlocal.base.foreign_archive.stream import ArchiveError, BeyondLimitError, ByteStream, CutShortError, inflated
from smlocal.base.foreign_archive.tar_entries import BLOCK, is_tar, tar_entries
from smlocal.base.quick_dataclass import dataclass
from smlocal.check.image_files import ImageEntry, ImageFiles, Wanted, Wish
from smlocal.check.subject import HistoryStep

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_MANIFEST = "manifest.json"
_MOST_LINKS = 8
_MOST_PARTS = 20_000
"""In the archive: a layer and its documents are four at most."""
_MOST_DOCUMENT, _MOST_MANIFEST = 4 << 20, 1 << 20
"""Bytes of one document. A parsed one may take forty times as much memory."""
_MOST_LAYERS = 1000
"""The most layers of one image. Engines take 127, and the kernel takes 500."""
_SHOWN = 100
_MOST_STEPS = 10_000
"""In the history of an image."""


_WHITEOUT = ".wh."
_OPAQUE = ".wh..wh..opq"
_OF_AUFS = ".wh..wh."
"""Its own files, which say nothing about the image."""
_ELF = b"\x7fELF"
_MOST_OF_BINARY = 4096
"""Bytes: the headers of a program, and the name of its loader."""
_MOST_OF_OTHERS = 64
"""Bytes of a file that may be executed and is neither a script nor a program: enough to see that."""
_OF_ENTRY, _OF_FOLDER = 300, 450
"""Bytes of memory beside the names, as measured."""
_KINDS = {"sparse": "file", "fifo": "other"}
TOO_MANY = "the image has more files and folders, or longer paths, than smlocal reads (360 MiB of memory)"


@dataclass(kw_only=True, slots=True)
class Room:
    """For how much there is room, in all layers together."""

    left: int = 32 << 20
    """Bytes of contents."""
    paths: int = 360 << 20
    """Bytes that paths take in memory.

    The author of the image chose their number and their length; a million files of the usual kind fit.
    """

    def take(self, size: int) -> None:
        """For a path, or several; `BeyondLimitError` when there is no room for it."""
        self.paths -= size
        if self.paths < 0:
            raise BeyondLimitError(TOO_MANY)


@dataclass(kw_only=True, slots=True)
class Layer:
    """One layer, as its archive says."""

    entries: list[tuple[str, ImageEntry]] = field(default_factory=list)
    hard_links: list[tuple[str, str]] = field(default_factory=list)
    """A path, and the one whose file it is too."""
    removed: list[str] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)
    """Folders of which nothing is left that lower layers have in them."""
    contents: dict[str, bytes] = field(default_factory=dict)
    crowded: bool = False
    """True when there was no room for a file that was wanted."""
    memory: int = 0
    """Bytes that its paths take."""


def read_layer(stream: ByteStream, first: bytes, wanted: Wanted, room: Room) -> Layer:
    """Read one archive to its end; `first` is its first block. `BeyondLimitError` when there is no room for it."""
    layer, before = Layer(), room.paths
    for name, kind, mode, uid, gid, size, link, _ in tar_entries(stream, first):
        path = clean(name)
        room.paths -= _OF_ENTRY + len(name) + len(link)
        if room.paths < 0:
            raise BeyondLimitError(TOO_MANY)
        last = path.rpartition("/")[2]
        if last.startswith(_WHITEOUT):
            stream.skip(size)
            _note_whiteout(layer, path, last)
            continue
        if kind == "hard":
            layer.hard_links.append((path, clean(link)))
            continue
        if kind == "file":
            wish = wanted(path, mode)
            keep = min(size, wish.most)
            if keep:
                _keep(layer, path, stream.exactly(keep), wish, room)
            stream.skip(size - keep)
        else:
            stream.skip(size)
            kind = _KINDS.get(kind, kind)  # noqa: PLW2901 - as rules know it
        layer.entries.append((path, ImageEntry(kind, mode, uid, gid, size, 0, link)))
    layer.memory = before - room.paths
    return layer


def _keep(layer: Layer, path: str, content: bytes, wish: Wish, room: Room) -> None:
    if content[:4] == _ELF:
        content = content[:_MOST_OF_BINARY]
    elif wish.only_to_run and content[:2] != b"#!":
        content = content[:_MOST_OF_OTHERS]
    if len(content) <= room.left:
        layer.contents[path] = content
        room.left -= len(content)
    else:
        layer.crowded = True


def clean(name: str) -> str:
    """A path below the root, whatever its name says: one that points outside ends at the root, as in a container."""
    if name[:2] == "./":
        name = name[2:]
    if "//" in name or "/." in name or name[:1] in {".", "/"} or name[-1:] == "/":
        return posixpath.normpath(f"/{name}").strip("/")
    return name


def _note_whiteout(layer: Layer, path: str, last: str) -> None:
    folder = path.rpartition("/")[0]
    if last == _OPAQUE:
        layer.opaque.append(folder)
    elif not last.startswith(_OF_AUFS):
        layer.removed.append(posixpath.join(folder, last.removeprefix(_WHITEOUT)))


def merged(layers: Sequence[Layer], room: Room, unread: Iterable[str] = (), *, numbered: bool = True) -> ImageFiles:
    """The files that result when each layer lies on those before it; takes the layers apart on the way.

    `BeyondLimitError` when there is no room for the folders that no layer names.
    """
    seen, crowded = _Seen(room), any(layer.crowded for layer in layers)
    for index, layer in enumerate(layers):
        number = index if numbered else None
        for folder in layer.opaque:
            seen.empty(folder)
        for path in layer.removed:
            seen.remove(path)
        entries, contents = layer.entries, layer.contents
        entries.reverse()
        while entries:  # each is gone when the next comes, so that no layer is in memory twice
            path, (kind, mode, uid, gid, size, _, link) = entries.pop()
            if path:
                seen.put(path, ImageEntry(kind, mode, uid, gid, size, number, link))
                if path in contents:
                    seen.contents[path] = contents[path]
        for path, target in layer.hard_links:
            seen.link(path, target, number)
        contents.clear()
    return ImageFiles(folders=seen.folders, contents=seen.contents, crowded=crowded, unread=tuple(unread))


class _Seen:
    """The files so far."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.folders: dict[str, dict[str, ImageEntry]] = {"": {}}
        self.contents: dict[str, bytes] = {}

    def put(self, path: str, entry: ImageEntry) -> None:
        """Add or replace; a folder keeps its content unless it is replaced by something else."""
        folder, _, name = path.rpartition("/")
        if folder not in self.folders:
            self._make(folder, entry.layer)
        self._place(folder, name, path, entry)

    def _make(self, folder: str, layer: int | None) -> None:
        """Folders that an archive does not name are root's."""
        missing = []
        while folder not in self.folders:
            self._room.take(_OF_ENTRY + len(folder))
            missing.append(folder)
            folder = folder.rpartition("/")[0]
        for each in reversed(missing):
            above, _, name = each.rpartition("/")
            self._place(above, name, each, ImageEntry("folder", 0o755, 0, 0, 0, layer))

    def _place(self, folder: str, name: str, path: str, entry: ImageEntry) -> None:
        self.contents.pop(path, None)
        if entry.kind == "folder":
            if path not in self.folders:
                self._room.take(_OF_FOLDER + len(path))
                self.folders[path] = {}
        elif path in self.folders:
            self.empty(path)
            del self.folders[path]
        self.folders[folder][name] = entry

    def link(self, path: str, target: str, layer: int | None) -> None:
        """Give a file a second name; the first may be in a lower layer."""
        folder, _, name = target.rpartition("/")
        entry = self.folders.get(folder, {}).get(name)
        if entry is None or not path or path == target:
            return
        content = self.contents.get(target)
        self.put(path, entry._replace(layer=layer))
        if content is not None:
            self.contents[path] = content

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it."""
        folder, _, name = path.rpartition("/")
        if self.folders.get(folder, {}).pop(name, None) is None:
            return
        self.contents.pop(path, None)
        if path in self.folders:
            self.empty(path)
            del self.folders[path]

    def empty(self, folder: str) -> None:
        """Remove all that is in a folder, which stays."""
        todo = [folder]
        while todo:
            here = todo.pop()
            entries = self.folders.get(here)
            if entries is None:
                continue
            for name in entries:
                path = posixpath.join(here, name)
                self.contents.pop(path, None)
                if path in self.folders:
                    todo.append(path)
            if here == folder:
                entries.clear()
            else:
                del self.folders[here]


class BrokenImageError(Exception):
    """The archive is not what an engine makes of an image; the text says how, as a clause."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedImage:
    """The kept parts of an image."""

    files: ImageFiles
    history: tuple[HistoryStep, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Unread:
    """A layer that was passed over."""

    why: str


def read_saved_image(pieces: Iterable[bytes], wanted: Wanted, *, image: str) -> SavedImage:
    """Read the archive of one image; `image` is its id."""
    stream, parts = ByteStream(pieces), _Parts(wanted=wanted)
    try:
        for number, entry in enumerate(tar_entries(stream)):
            if number == _MOST_PARTS:
                raise BrokenImageError(f"the archive of the image has more than {_MOST_PARTS:,} parts")
            name = posixpath.normpath(entry.name)
            if entry.kind == "link":
                parts.links[name] = posixpath.normpath(posixpath.join(posixpath.dirname(name), entry.link))
            elif entry.kind == "hard":
                parts.links[name] = posixpath.normpath(entry.link)
            elif entry.kind in {"file", "sparse"}:
                parts.read(stream, name, entry.size)
            else:
                stream.skip(entry.size)
    except CutShortError as error:
        raise BrokenImageError("the archive of the image ends too early") from error
    except ArchiveError as error:
        raise BrokenImageError(f"the engine's answer is not the archive of an image: {error}") from error
    _pass_over(stream)  # what fills the archive up, so that the engine is not left with it
    return _together(parts, image)


def read_root(pieces: Iterable[bytes], wanted: Wanted) -> ImageFiles:
    """Read the archive of the root folder of a container."""
    stream = ByteStream(pieces)
    room = Room()
    try:
        layer = read_layer(stream, b"", wanted, room)
        _pass_over(stream)
        return merged([layer], room, numbered=False)
    except ArchiveError as error:
        raise BrokenImageError(f"the files of a container of the image are not read: {error}") from error


@dataclass(kw_only=True, slots=True)
class _Parts:
    """The parts that have come so far, by their names in the archive."""

    wanted: Wanted
    room: Room = field(default_factory=Room)
    layers: dict[str, Layer | _Unread] = field(default_factory=dict)
    documents: dict[str, bytes] = field(default_factory=dict)
    room_of_documents: int = 32 << 20
    links: dict[str, str] = field(default_factory=dict)

    def read(self, stream: ByteStream, name: str, size: int) -> None:
        """A layer, whatever it is called, or a document."""
        first = stream.exactly(min(size, BLOCK))
        rest = size - len(first)
        if is_tar(first):
            part = ByteStream(stream.take(rest))
            self.layers[name] = self._layer(part, first)
            _pass_over(part)
        elif first.startswith(_GZIP):
            part = ByteStream(_joined(first, stream.take(rest)))
            unpacked = ByteStream(inflated(part.take(size)))
            self.layers[name] = self._layer(unpacked, b"")
            _pass_over(part)
        elif first.startswith(_ZSTD):
            self.layers[name] = _Unread(why="a layer of the image is compressed with zstd, which smlocal does not read")
            stream.skip(rest)
        elif name == _MANIFEST:
            if size > _MOST_MANIFEST:
                raise BrokenImageError("the archive of the image has a manifest of more than 1 MiB")
            self.documents[name] = first + stream.exactly(rest)
        elif size <= min(_MOST_DOCUMENT, self.room_of_documents):
            self.room_of_documents -= size
            self.documents[name] = first + stream.exactly(rest)
        else:
            self.layers[name] = _Unread(why="a layer of the image has a format that smlocal does not read")
            stream.skip(rest)

    def _layer(self, stream: ByteStream, first: bytes) -> Layer | _Unread:
        try:
            return read_layer(stream, first, self.wanted, self.room)
        except BeyondLimitError as error:
            if self.room.paths < 0:  # nothing will be shown of this image, so nothing of it is kept
                self.layers = {name: _Unread(why=TOO_MANY) for name in self.layers}
                return _Unread(why=TOO_MANY)
            return _Unread(why=f"a layer of the image is not read: {error}")
        except ArchiveError:
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


def _pass_over(stream: ByteStream) -> None:
    for _ in stream.take(1 << 62):
        pass


def _together(parts: _Parts, image: str) -> SavedImage:
    manifest = _manifest(parts, image)
    history = _history(parts.document(_text(manifest.get("Config"))))
    found: list[Layer] = []
    unread: list[str] = []
    names = _listed(manifest, "Layers")
    if len(names) > _MOST_LAYERS:
        why = f"the image has {len(names):,} layers, more than smlocal reads ({_MOST_LAYERS:,})"
        return SavedImage(files=_nothing(why), history=history)
    try:
        for name in map(_text, names):
            place = parts.followed(name)
            layer = parts.layers.get(place)
            if layer is None:
                if place not in parts.documents:
                    raise BrokenImageError(f"the archive of the image lacks its layer {name[:_SHOWN]}")
                layer = _Unread(why="a layer of the image has a format that smlocal does not read")
            if isinstance(layer, _Unread):
                unread.append(layer.why)
                layer = Layer()
            # One that stands in several places is needed whole each time, and putting them together takes them apart.
            if any(layer is other for other in found):
                parts.room.take(layer.memory)
                layer = _copy(layer)
            found.append(layer)
        if unread:  # rules are told so, and see nothing
            return SavedImage(files=_nothing(*dict.fromkeys(unread)), history=history)
        return SavedImage(files=merged(found, parts.room), history=history)
    except BeyondLimitError as error:
        return SavedImage(files=_nothing(str(error)), history=history)


def _nothing(*why: str) -> ImageFiles:
    return ImageFiles(folders={}, contents={}, unread=why)


def _text(value: Any) -> str:
    """Only for documents that may be written out: a list may be nested more deeply than Python follows."""
    return str(value) if isinstance(value, str | int) else ""


def _copy(layer: Layer) -> Layer:
    return Layer(
        entries=list(layer.entries),
        hard_links=layer.hard_links,
        removed=layer.removed,
        opaque=layer.opaque,
        contents=dict(layer.contents),
    )


def _manifest(parts: _Parts, image: str) -> Mapping[str, Any]:
    """The entry of the requested image, if there are several: its configuration has its id for a name."""
    listed = parts.document(_MANIFEST)
    images = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if not images:
        raise BrokenImageError("the archive of the image has no manifest")
    digest = image.rpartition(":")[2]
    return next((each for each in images if digest and digest in _text(each.get("Config"))), images[0])


def _history(configuration: Any) -> tuple[HistoryStep, ...]:
    """The instructions with the layers that they made; nothing of these where they do not add up."""
    steps: list[HistoryStep] = []
    layer = 0
    listed = _listed(configuration, "history")
    if len(listed) > _MOST_STEPS:
        return ()
    for each in listed:
        step = each if isinstance(each, dict) else {}
        makes = not step.get("empty_layer")
        steps.append(HistoryStep(text=_text(step.get("created_by")), layer=layer if makes else None))
        layer += makes
    root = configuration.get("rootfs") if isinstance(configuration, dict) else None
    if layer == len(_listed(root, "diff_ids")):
        return tuple(steps)
    return tuple(HistoryStep(text=step.text) for step in steps)


def _listed(document: Any, member: str) -> Sequence[Any]:
    found = document.get(member) if isinstance(document, dict) else None
    return found if isinstance(found, list) else ()
