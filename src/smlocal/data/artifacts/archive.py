"""Write `model.tar.gz` and `output.tar.gz`. The same tree gives the same bytes; only complete archives are visible."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, BinaryIO, Protocol

from smlocal.base.files import Check, no_check
from smlocal.data.artifacts.atomic_write import atomic_write, data_ranges, sync_file
from smlocal.data.artifacts.ownership import END, header, padding
from smlocal.data.artifacts.tree import Entry, HostTree, WriteReport, merge, open_if_present

if TYPE_CHECKING:
    from smlocal.data.artifacts.gzip_stream import GzipStream

Progress = Callable[[int, int], None]
"""Called several times a second with the bytes done and the bytes in total."""

_MOST_HEADER_BYTES = 4096
"""Per member, unless its names are very long."""
_BLOCK_BYTES = 512
"""The unit of `st_blocks`: a file with fewer has holes."""


class ArchiveReader(Protocol):
    """Reads archives while they are written, for example to upload them. It handles its own errors."""

    def archive_started(self, name: str, path: str, most: int) -> None:
        """An archive is being written to `path`, and will have about `most` bytes at most. `name` is its final name."""

    def archive_grew(self, size: int) -> None:
        """The first `size` bytes can be read."""

    def archive_finished(self) -> None:
        """The archive is complete and has its final name."""

    def archive_failed(self) -> None:
        """The archive will not be completed."""


def write_archive(
    sources: Sequence[HostTree],
    destination: str,
    *,
    progress: Progress | None = None,
    reader: ArchiveReader | None = None,
    owner: str = "",
    check: Check = no_check,
) -> WriteReport | None:
    """Pack the files of the hosts into `destination`; None, and no file, if there are none.

    `ArtifactError` if it cannot be written. `owner` marks the unfinished file (`atomic_write`). `check` is called
    between pieces; if it raises, there is no file.
    """
    members, clashes = merge(sources)
    notes = [note for source in sources for note in source.skipped]
    if not members:
        return None
    try:
        with atomic_write(destination, owner=owner) as partial, open(partial, "xb") as file:
            output: BinaryIO | _WatchedFile = file
            if reader is not None:
                reader.archive_started(os.path.basename(destination), partial, _most_bytes(members))
                output = _WatchedFile(file, reader)
            bytes_in, count = _write(members, output, notes, progress, check)
            file.flush()
            sync_file(file.fileno(), check)
            bytes_out = file.tell()
    except BaseException:
        if reader is not None:
            reader.archive_failed()
        raise
    if reader is not None:
        reader.archive_finished()
    return WriteReport(
        path=destination,
        members=count,
        bytes_in=bytes_in,
        bytes_out=bytes_out,
        notes=tuple(notes),
        clashes=tuple(clashes),
    )


def _most_bytes(members: Sequence[tuple[HostTree, Entry]]) -> int:
    """Data that cannot be compressed grows by less than one per cent."""
    return sum(entry.size + _MOST_HEADER_BYTES for _, entry in members) * 101 // 100


class _WatchedFile:
    """The archive's file; tells the reader about each piece that is written."""

    def __init__(self, file: BinaryIO, reader: ArchiveReader) -> None:
        self._file, self._reader = file, reader
        self._size = 0

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        self._size += len(data)
        self._reader.archive_grew(self._size)


def _write(
    members: Sequence[tuple[HostTree, Entry]],
    output: "BinaryIO | _WatchedFile",
    notes: list[str],
    progress: Progress | None,
    check: Check,
) -> tuple[int, int]:
    from smlocal.data.artifacts.gzip_stream import GzipStream  # imports isal, so only if there is something to pack

    total = _size_of_files(members)
    count = 0
    first_names: dict[tuple[str, bytes], bytes] = {}
    with GzipStream(output) as stream:

        def report() -> None:
            check()
            if progress is not None:
                progress(min(stream.bytes_in, total), total)

        for tree, entry in members:
            check()
            first = first_names.get((tree.host, entry.inode))
            if first is not None:
                stream.write(header(path=entry.path, mode=entry.mode, mtime=entry.mtime, target=first, hard_link=True))
            elif not entry.is_file:
                stream.write(header(path=entry.path, mode=entry.mode, mtime=entry.mtime, target=entry.target))
            elif not _write_file(tree, entry, stream, notes, report):
                continue
            elif entry.inode:
                first_names[tree.host, entry.inode] = entry.path
            count += 1
        report()
        stream.write(END)
        stream.finish()
        return stream.bytes_in, count


def _size_of_files(members: Sequence[tuple[HostTree, Entry]]) -> int:
    """The size of all files together; a file with several names (hard links) counts once."""
    linked = {(tree.host, entry.inode): entry.size for tree, entry in members if entry.inode}
    return sum(entry.size for _, entry in members if not entry.inode) + sum(linked.values())


def _write_file(
    tree: HostTree, entry: Entry, stream: "GzipStream", notes: list[str], report: Callable[[], None]
) -> bool:
    """Append one file with exactly the size in its header, even if the file changes meanwhile."""
    source = open_if_present(tree, entry, notes)
    if source is None:
        return False
    shown = f"{tree.host}: {os.fsdecode(entry.path)}"
    try:
        status = os.fstat(source)
        size = status.st_size
        stream.write(header(path=entry.path, mode=entry.mode, mtime=entry.mtime, size=size))
        missing = _write_content(source, status, stream, report)
        if missing:
            notes.append(f"{shown} shrank during archiving; the archive has zeros in place of {missing} bytes")
        elif os.fstat(source).st_size > size:
            notes.append(f"{shown} grew during archiving; the archive has its first {size} bytes")
    finally:
        os.close(source)
    stream.zeros(padding(size))
    return True


def _write_content(source: int, status: os.stat_result, stream: "GzipStream", report: Callable[[], None]) -> int:
    """Append as many bytes as the file had; returns how many of them it has no more. Holes are not read."""
    size = status.st_size
    if status.st_blocks * _BLOCK_BYTES >= size:
        done = _write_range(source, size, stream, report)
        stream.zeros(size - done, added=report)
        return size - done
    done = 0
    for start, end in data_ranges(source, size):
        stream.zeros(start - done, added=report)
        os.lseek(source, start, os.SEEK_SET)
        done = start + _write_range(source, end - start, stream, report)
        if done < end:
            stream.zeros(size - done, added=report)
            return size - done
    stream.zeros(size - done, added=report)
    return max(0, size - max(done, os.fstat(source).st_size))  # no byte was missed before the last hole


def _write_range(source: int, count: int, stream: "GzipStream", report: Callable[[], None]) -> int:
    """Append bytes from the current position; returns how many there were."""
    rest = count
    while rest:
        read = os.readv(source, [stream.space()[:rest]])
        if not read:
            break
        stream.advance(read)
        rest -= read
        report()
    return count - rest
