"""The files of an image as a container of it would see them, and which of them rules want to see.

Names and owners of all files are known, contents only of the wanted ones.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import translate
from typing import NamedTuple

from smlocal.base.quick_dataclass import dataclass
from smlocal.check.cannot_look import CannotLookError

_LIBRARIES = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|node_modules|lib/python3[^/]*|lib64/python3[^/]*|pkgs)/"
    r"|^(?:usr/share|usr/lib|usr/include|proc|sys|dev|var/lib|var/cache)/"
)
"""Folders of packages, which were not written by the author of the image."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Files:
    """Files whose content a rule wants."""

    names: tuple[str, ...] = ()
    """Last parts of paths; `*` and `?` as in a shell."""
    programs: bool = False
    """Every file that may be executed, apart from libraries (`.so`): scripts whole, of binaries the headers."""
    most: int
    """Bytes from the beginning of each; the rest is not kept."""
    libraries: bool = True
    """Also where packages are installed."""


NAMES = Files(most=0)
"""Paths, owners and modes, and no content at all."""
PROGRAMS = Files(programs=True, most=64 << 10)
"""Files that may be executed: scripts, and of binaries the header."""
SCRIPTS = Files(names=("*.py", "*.sh", "*.bash", "train", "serve"), most=256 << 10, libraries=False)
"""Files that the author of the image has written, as far as names tell."""
USERS = Files(names=("passwd", "group"), most=64 << 10)
"""`/etc/passwd` and its like."""


class Wish(NamedTuple):
    """The wanted parts of one file."""

    most: int
    """Bytes from the beginning; none for 0."""
    only_to_run: bool = False
    """True where it is wanted because it may be executed, and for nothing else."""


Wanted = Callable[[str, int], Wish]
"""Returns the wanted parts of a file, by its path and mode."""
_NOTHING = Wish(0)


def is_of_a_library(path: str) -> bool:
    """True for a file of an installed package; the path has no leading slash."""
    return _LIBRARIES.search(path) is not None


def wanted(files: Iterable[Files], names: Iterable[str] = ()) -> Wanted:
    """All wishes in one; files of these `names` are wanted whole, up to what a script may have."""
    wishes = tuple(files)
    to_run = Wish(max((each.most for each in wishes if each.programs), default=0), only_to_run=True)
    named = [(_pattern(each.names), each.most, each.libraries) for each in wishes if each.names]
    exact = frozenset(names)

    def wish(path: str, mode: int) -> Wish:
        name = path.rpartition("/")[2]
        found = SCRIPTS.most if name in exact else 0
        for pattern, size, libraries in named:
            if size > found and pattern(name) and (libraries or not is_of_a_library(path)):
                found = size
        if found:
            return Wish(found)
        return to_run if mode & 0o111 and ".so" not in name else _NOTHING

    return wish


def _pattern(names: tuple[str, ...]) -> Callable[[str], object]:
    return re.compile("|".join(map(translate, names))).match


TOO_MUCH = "the image has more scripts and programs than smlocal keeps (32 MiB)"
_MOST_LINKS = 40
"""That the kernel follows in one path."""
_MOST_STEPS = 10_000
"""Parts of a path and of the links in it."""


class ImageEntry(NamedTuple):
    """One file in an archive."""

    kind: str
    """`file`, `folder`, `link`, or `other` for devices and similar files."""
    mode: int
    uid: int
    gid: int
    size: int
    layer: int | None
    """From 0; None where it is not known."""
    link: str = ""
    """The target of a link."""

    @property
    def is_executable(self) -> bool:
        """True if at least one user may execute it."""
        return self.kind == "file" and bool(self.mode & 0o111)


class FoundFile(NamedTuple):
    """Where a path leads to."""

    path: str
    """Absolute, without links."""
    entry: ImageEntry


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageFiles:
    """All paths of an image; contents of those files that rules asked for."""

    folders: Mapping[str, Mapping[str, ImageEntry]]
    """The entries of each folder; `usr/bin`, and the empty name for the root."""
    contents: Mapping[str, bytes]
    """By path without its leading slash."""
    crowded: bool = False
    """True when there was not room for every content that was asked for."""
    unread: tuple[str, ...] = ()
    """Parts that could not be read, as clauses."""

    def entry(self, path: str) -> ImageEntry | None:
        """The entry at exactly this path; the last part may be a link."""
        folder, _, name = path.strip("/").rpartition("/")
        return self.folders.get(folder, {}).get(name)

    def find(self, path: str) -> FoundFile | None:
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
        known = self.entry(here) if here else ImageEntry("folder", 0o755, 0, 0, 0, 0)
        return None if known is None else FoundFile(f"/{here}", known)

    def content(self, path: str) -> bytes | None:
        """The beginning of a file, whichever name it has; None where it is not there or was not asked for."""
        found = self.find(path)
        if found is None:
            return None
        content = self.contents.get(found.path[1:])
        if content is None and found.entry.size and self.crowded:
            raise CannotLookError(f"{found.path} was not read: {TOO_MUCH}")
        return content

    def below(self, path: str) -> Iterator[FoundFile]:
        """Everything below a folder, each folder before its content."""
        start = path.strip("/")
        todo = [start]
        while todo:
            folder = todo.pop()
            for name, entry in self.folders.get(folder, {}).items():
                inside = posixpath.join(folder, name)
                yield FoundFile(f"/{inside}", entry)
                if entry.kind == "folder":
                    todo.append(inside)

    def named(self, pattern: re.Pattern[str]) -> Iterator[FoundFile]:
        """Every path whose last part matches, in no order."""
        match = pattern.match
        for folder, entries in self.folders.items():
            for name in entries:
                if match(name) is not None:
                    yield FoundFile(f"/{folder}/{name}" if folder else f"/{name}", entries[name])

    def everything(self) -> Iterator[FoundFile]:
        """Every path, in no order."""
        return self.named(re.compile(""))
