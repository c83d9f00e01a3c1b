"""One archive of somebody else, member by member, with limits."""

from collections.abc import Iterable, Iterator

from smlocal.foreign_archive.errors import BeyondLimitError, CutShortError
from smlocal.foreign_archive.stream import Stream, inflated
from smlocal.foreign_archive.tar_entries import BLOCK, TarEntry, tar_entries
from smlocal.quick_dataclass import dataclass
from smlocal.readable import readable_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How much is read of an archive, of each kind together."""

    members: int = 500_000
    content: int = 1 << 50
    """Bytes, unpacked, of contents and headers."""
    names: int = 64 << 20
    """Bytes of names and of targets of links."""
    headers: int = 128 << 20
    """Bytes of extended headers and long names. Python's own writer makes 1 KiB of them for each file at most."""


ARTIFACT = Limits()
"""Of `model.tar.gz` and its like: more than fits into memory as a list is not read."""


class ForeignArchive:
    """A tar archive that is read once, from its beginning. Iterate it; `content` is of the member that came last.

    `ArchiveError` at any point for what is damaged, ends early or goes beyond a limit.
    """

    def __init__(self, pieces: Iterable[bytes], limits: Limits = ARTIFACT, *, compressed: bool = True) -> None:
        """Read nothing yet; `compressed` by gzip."""
        self._stream = Stream(inflated(pieces) if compressed else pieces)
        self._limits = limits
        self._left = 0
        self._members = 0
        self._bytes = 0
        self._names = 0

    def __iter__(self) -> Iterator[TarEntry]:
        """Each member; what was not taken of its content is passed over."""
        for entry in tar_entries(self._stream, most_headers=self._limits.headers, strict=True):
            self._count(entry)
            self._left = entry.size
            yield entry
            self._stream.skip(self._left)
            self._left = 0

    def content(self, most: int | None = None) -> Iterator[bytes]:
        """What is left of the content of this member, or its beginning."""
        wanted = self._left if most is None else min(most, self._left)
        for piece in self._stream.take(wanted):
            self._left -= len(piece)
            wanted -= len(piece)
            yield piece
        if wanted:
            raise CutShortError

    def read(self, most: int) -> bytes:
        """The content of this member, or its beginning, whole."""
        return b"".join(self.content(most))

    def _count(self, entry: TarEntry) -> None:
        limits = self._limits
        self._members += 1
        self._bytes += BLOCK + entry.size
        self._names += len(entry.name) + len(entry.link)
        if self._members > limits.members:
            raise BeyondLimitError(f"it has more than {limits.members:,} members")
        if self._bytes > limits.content:
            raise BeyondLimitError(f"it unpacks to more than {readable_bytes(limits.content)}")
        if self._names > limits.names:
            raise BeyondLimitError(f"its names have more than {readable_bytes(limits.names)}")
