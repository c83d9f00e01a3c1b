"""`model.tar.gz` and `output.tar.gz`: same tree, same bytes, and never half of one where somebody looks."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, Protocol

from smlocal.artifacts.drafts import draft_path
from smlocal.artifacts.tar_header import END, header, padding
from smlocal.artifacts.tree import Clash, Entry, FirstNames, HostTree, bytes_once, merge
from smlocal.artifacts.write_errors import explained, make_folder, open_file, sync_folder
from smlocal.quick_dataclass import dataclass

if TYPE_CHECKING:
    from smlocal.artifacts.gzip_stream import GzipStream

Progress = Callable[[int, int], None]
"""Called now and then with the bytes done and the bytes in all."""

_MOST_HEADERS = 4096
"""Of one member, unless its names are very long."""


class Follower(Protocol):
    """Sends an archive on while it is written; what goes wrong there is its own affair."""

    def begin(self, name: str, path: str, most: int) -> None:
        """An archive of this name lies at `path` for now and will have about `most` bytes at the most."""

    def grown(self, size: int) -> None:
        """Its first `size` bytes can be read."""

    def whole(self) -> None:
        """It is complete, and has its own name on disk."""

    def gave_up(self) -> None:
        """It will never be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchiveReport:
    """What went into an archive."""

    path: str
    bytes_in: int
    bytes_out: int
    members: int
    notes: tuple[str, ...]
    clashes: tuple[Clash, ...]


def write_archive(
    sources: Sequence[HostTree],
    destination: str,
    *,
    progress: Progress | None = None,
    follower: Follower | None = None,
    owner: str = "",
) -> ArchiveReport | None:
    """Pack the contents of the hosts' directories into `destination`; None, and no file, when there is nothing.

    `ArtifactError` when it cannot be written; nothing half-written stays. A `follower` reads it as it grows.
    `owner` marks the draft.
    """
    members, clashes = merge(sources)
    notes = [note for source in sources for note in source.skipped]
    if not members:
        return None
    folder, name = os.path.split(os.path.abspath(destination))
    draft = draft_path(folder, name, owner)
    with explained(folder):
        make_folder(folder)
        try:
            with open(draft, "xb") as file:
                sink = file if follower is None else _Followed(file, follower, name, members)
                bytes_in, count = _write(members, sink, notes, progress)
                file.flush()
                os.fsync(file.fileno())
                bytes_out = file.tell()
            os.rename(draft, destination)
        except BaseException:
            if follower is not None:
                follower.gave_up()
            with suppress(FileNotFoundError):
                os.unlink(draft)
            raise
        sync_folder(folder)
    if follower is not None:
        follower.whole()
    return ArchiveReport(
        path=destination,
        bytes_in=bytes_in,
        bytes_out=bytes_out,
        members=count,
        notes=tuple(notes),
        clashes=tuple(clashes),
    )


class _Followed:
    """The file, and word of each piece that lies in it."""

    def __init__(
        self, file: BinaryIO, follower: Follower, name: str, members: Sequence[tuple[HostTree, Entry]]
    ) -> None:
        self._file, self._follower = file, follower
        self._size = 0
        # What cannot be compressed becomes larger by less than a hundredth.
        most = sum(entry.size + _MOST_HEADERS for _, entry in members) * 101 // 100
        follower.begin(name, os.fsdecode(file.name), most)

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        self._size += len(data)
        self._follower.grown(self._size)


def _write(
    members: Sequence[tuple[HostTree, Entry]],
    file: "BinaryIO | _Followed",
    notes: list[str],
    progress: Progress | None,
) -> tuple[int, int]:
    from smlocal.artifacts.gzip_stream import GzipStream  # isal only when a job wrote something

    total = bytes_once(members)
    count = 0
    linked = FirstNames()
    with GzipStream(file) as stream:

        def tick() -> None:
            if progress is not None:
                progress(min(stream.bytes_in, total), total)

        for tree, entry in members:
            if first := linked.first(tree, entry):
                stream.write(header(path=entry.path, mode=entry.mode, mtime=entry.mtime, target=first, hard_link=True))
                count += 1
            elif entry.is_file:
                if _write_file(tree, entry, stream, notes, tick):
                    linked.add(tree, entry)
                    count += 1
            else:
                stream.write(header(path=entry.path, mode=entry.mode, mtime=entry.mtime, target=entry.target))
                count += 1
        tick()
        stream.write(END)
        stream.finish()
        return stream.bytes_in, count


def _write_file(tree: HostTree, entry: Entry, stream: "GzipStream", notes: list[str], tick: Callable[[], None]) -> bool:
    """Append one file with exactly the size its header says, whatever happens to the file meanwhile."""
    source = open_file(tree, entry, notes)
    if source is None:
        return False
    shown = f"{tree.host}: {os.fsdecode(entry.path)}"
    try:
        size = os.fstat(source).st_size
        stream.write(header(path=entry.path, mode=entry.mode, mtime=entry.mtime, size=size))
        rest = size
        while rest:
            count = os.readv(source, [stream.space()[:rest]])
            if not count:
                notes.append(f"{shown} shrank during archiving; the archive has zeros in place of {rest} bytes")
                stream.zeros(rest)
                break
            stream.advance(count)
            rest -= count
            tick()
        if not rest and os.fstat(source).st_size > size:
            notes.append(f"{shown} grew during archiving; the archive has its first {size} bytes")
    finally:
        os.close(source)
    stream.zeros(padding(size))
    return True
