"""An artifact of a job: its path, and its content."""

import os
import posixpath
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from smlocal.base.files import Opener
from smlocal.base.foreign_archive.archive import ForeignArchive
from smlocal.base.foreign_archive.stream import ArchiveError, opened, pieces_of

_MOST_LINKS = 40
"""That the kernel follows in one path."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Artifact:
    """`model.tar.gz` or `output.tar.gz`; a folder where the job asked for CompressionType NONE."""

    path: str
    size: int
    """Bytes."""

    def __fspath__(self) -> str:
        return self.path

    def open(self) -> tarfile.TarFile:
        """The archive, for reading; close it, or use it in a `with` statement."""
        return tarfile.open(self.path, "r:gz")

    def names(self) -> list[str]:
        """Every file in it, in order, as a path from `/opt/ml/model` (or `/opt/ml/output/data`). No folders."""
        return sorted(self._links())

    def read(self, name: str) -> bytes:
        """The content of one of these files; a `FileNotFoundError` that lists them when there is no such file."""
        links = self._links()
        if name not in links:
            raise FileNotFoundError(f"{self.path} has no file {name}; it has {', '.join(sorted(links)) or 'none'}")
        wanted = name
        for _ in range(_MOST_LINKS):
            if not links.get(wanted):
                break
            wanted = links[wanted]
        if links.get(wanted, name):
            raise FileNotFoundError(f"{self.path} has no file behind the link {name}")
        if os.path.isdir(self.path):
            with open(Opener(self.path, trusted=True).file(os.fsencode(wanted)), "rb") as file:
                return file.read()
        content = b""
        with self._read() as archive:
            for member in archive:
                if member.name == wanted:  # the last of several
                    content = b"".join(archive.content())
        return content

    def _links(self) -> dict[str, str]:
        """Every file, and the file that it is another name for; nothing for a file itself."""
        found = {}
        if os.path.isdir(self.path):
            for folder, _, names in os.walk(self.path):
                for path in (os.path.join(folder, name) for name in names):
                    name = os.path.relpath(path, self.path)
                    found[name] = _behind(name, os.readlink(path)) if os.path.islink(path) else ""
            return found
        with self._read() as archive:
            for member in archive:
                if member.kind == "link":
                    found[member.name] = _behind(member.name, member.link)
                elif member.kind != "folder":
                    found[member.name] = member.link if member.kind == "hard" else ""
        return found

    @contextmanager
    def _read(self) -> Iterator[ForeignArchive]:
        """The archive, which a container has filled: its links may lead anywhere, and nowhere."""
        try:
            with opened(self.path) as file:
                yield ForeignArchive(pieces_of(file))
        except ArchiveError as error:
            raise tarfile.ReadError(f"{self.path} cannot be read: {error}") from error


def _behind(name: str, target: str) -> str:
    """The path from the top that a link leads to, if it is in the artifact at all."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
