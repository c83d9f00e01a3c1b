"""What each layer adds and removes, and what a container sees of all of them."""

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import field

from smlocal.base.foreign_archive.stream import BeyondLimitError, ByteStream
from smlocal.base.foreign_archive.tar_entries import tar_entries
from smlocal.base.quick_dataclass import dataclass
from smlocal.check.image_files import ImageEntry, ImageFiles, Wanted, Wish

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
    """Bytes that paths take in memory. Whoever made the image chose their number and their length; a million
    files of the usual kind fit."""

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
    """What is left when each layer lies on those before it; takes the layers apart on the way.

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
        """Add or replace; a folder keeps what is in it unless it is replaced by something else."""
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
