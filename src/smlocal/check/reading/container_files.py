"""Single files of a container, each read when a rule asks for it. The image is not read as a whole."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.files import PROGRAMS, SCRIPTS
from smlocal.check.image_files import Entry, ImageFiles
from smlocal.errors import EngineError, SmlocalError
from smlocal.foreign_archive.stream import ArchiveError, Stream
from smlocal.foreign_archive.tar_entries import tar_entries

_ABSENT = 404
_MOST = 300
"""Questions to the engine about one container: the folders of a PATH, and what is in them."""
_KINDS = {"sparse": "file", "fifo": "other", "hard": "other"}

Archive = Callable[[str], Generator[bytes, None, None]]


def container_files(archive: Archive) -> ImageFiles:
    """The files of a container; `archive` has a path as a tar, with the path itself first."""
    reader = _Reader(archive)
    return ImageFiles(folders=_Folders(reader), contents=reader.contents)


class _Reader:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._known: dict[str, Entry | None] = {}
        self.contents: dict[str, bytes] = {}

    def entry(self, path: str) -> Entry | None:
        """What is at a path, which is not followed if it is a link. Of a file the beginning is kept."""
        if path not in self._known:
            if len(self._known) == _MOST:
                raise CannotLookError("too many files of the container were asked for")
            self._known[path] = self._read(path)
        return self._known[path]

    def _read(self, path: str) -> Entry | None:
        try:
            with closing(self._archive(f"/{path}")) as pieces:
                stream = Stream(pieces)
                first = next(tar_entries(stream), None)
                if first is None:
                    raise CannotLookError(f"the engine delivers nothing for /{path}")
                if first.kind == "file":
                    most = SCRIPTS.most if not first.mode & 0o111 else PROGRAMS.most
                    self.contents[path] = stream.exactly(min(first.size, most))
        except EngineError as error:
            if error.status == _ABSENT:
                return None
            raise CannotLookError(f"the engine does not deliver /{path}: {error}") from error
        except (SmlocalError, ArchiveError) as error:
            raise CannotLookError(f"/{path} was not read: {error}") from error
        kind = _KINDS.get(first.kind, first.kind)
        return Entry(kind, first.mode, first.uid, first.gid, first.size, None, first.link)


class _Folder(Mapping[str, Entry]):
    """What is in one folder, as far as it is asked for by name."""

    def __init__(self, reader: _Reader, path: str) -> None:
        self._reader, self._path = reader, path

    def __getitem__(self, name: str) -> Entry:
        entry = self._reader.entry(f"{self._path}/{name}" if self._path else name)
        if entry is None:
            raise KeyError(name)
        return entry

    def __iter__(self) -> Iterator[str]:
        raise CannotLookError("the files of the container are not listed")

    def __len__(self) -> int:
        raise CannotLookError("the files of the container are not listed")


class _Folders(Mapping[str, Mapping[str, Entry]]):
    """Every folder there may be."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader

    def __getitem__(self, path: str) -> Mapping[str, Entry]:
        return _Folder(self._reader, path)

    def __iter__(self) -> Iterator[str]:
        raise CannotLookError("the files of the container are not listed")

    def __len__(self) -> int:
        raise CannotLookError("the files of the container are not listed")
