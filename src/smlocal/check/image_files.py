"""The files of an image as a container of it would see them."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from smlocal.check.cannot_look import CannotLookError
from smlocal.quick_dataclass import dataclass

TOO_MUCH = "the image has more scripts and programs than smlocal keeps (32 MiB)"
_MOST_LINKS = 40
"""That the kernel follows in one path."""
_MOST_STEPS = 10_000
"""Parts of a path and of the links in it."""


class Entry(NamedTuple):
    """What an archive says of one file."""

    kind: str
    """`file`, `folder`, `link`, or `other` for devices and the like."""
    mode: int
    uid: int
    gid: int
    size: int
    layer: int | None
    """From 0; None where it is not known."""
    link: str = ""
    """What a link points to."""

    @property
    def is_executable(self) -> bool:
        """By anybody at all."""
        return self.kind == "file" and bool(self.mode & 0o111)


class Found(NamedTuple):
    """Where a path leads to."""

    path: str
    """Absolute, without links."""
    entry: Entry


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageFiles:
    """All paths of an image; contents of those files that rules asked for."""

    folders: Mapping[str, Mapping[str, Entry]]
    """What is in each folder; `usr/bin`, and the empty name for the root."""
    contents: Mapping[str, bytes]
    """By path without its leading slash."""
    crowded: bool = False
    """True when there was not room for every content that was asked for."""
    unread: tuple[str, ...] = ()
    """What could not be read, as clauses."""

    def entry(self, path: str) -> Entry | None:
        """What is at exactly this path; the last part may be a link."""
        folder, _, name = path.strip("/").rpartition("/")
        return self.folders.get(folder, {}).get(name)

    def find(self, path: str) -> Found | None:
        """Follow links as the kernel does; None where it leads nowhere."""
        here = ""
        todo = [part for part in reversed(path.split("/")) if part]
        links = steps = 0
        while todo:
            part = todo.pop()
            steps += 1
            if steps > _MOST_STEPS:
                return None
            if part in {".", ".."}:
                here = here.rpartition("/")[0] if part == ".." else here
                continue
            entry = self.folders.get(here, {}).get(part)
            if entry is None:
                return None
            if entry.kind == "link":
                links += 1
                if links > _MOST_LINKS:
                    return None
                if entry.link.startswith("/"):
                    here = ""
                todo += [step for step in reversed(entry.link.split("/")) if step]
                continue
            if todo and entry.kind != "folder":
                return None
            here = f"{here}/{part}" if here else part
        known = self.entry(here) if here else Entry("folder", 0o755, 0, 0, 0, 0)
        return None if known is None else Found(f"/{here}", known)

    def content(self, path: str) -> bytes | None:
        """The beginning of a file, whichever name it has; None where it is not there or was not asked for."""
        found = self.find(path)
        if found is None:
            return None
        content = self.contents.get(found.path[1:])
        if content is None and found.entry.size and self.crowded:
            raise CannotLookError(f"{found.path} was not read: {TOO_MUCH}")
        return content

    def below(self, path: str) -> Iterator[Found]:
        """Everything below a folder, folders before what is in them."""
        start = path.strip("/")
        todo = [start]
        while todo:
            folder = todo.pop()
            for name, entry in self.folders.get(folder, {}).items():
                inside = posixpath.join(folder, name)
                yield Found(f"/{inside}", entry)
                if entry.kind == "folder":
                    todo.append(inside)

    def named(self, pattern: re.Pattern[str]) -> Iterator[Found]:
        """Every path whose last part matches, in no order."""
        match = pattern.match
        for folder, entries in self.folders.items():
            for name in entries:
                if match(name) is not None:
                    yield Found(f"/{folder}/{name}" if folder else f"/{name}", entries[name])

    def everything(self) -> Iterator[Found]:
        """Every path, in no order."""
        return self.named(re.compile(""))
