"""The entries of a tar archive as it streams by, at a tenth of what the standard library takes for each.

Everything that an entry says is bounded before it is kept: the headers come from an untrusted author.
"""

from collections.abc import Iterator
from typing import NamedTuple

from smlocal.base.foreign_archive.stream import BeyondLimitError, ByteStream, CutShortError, NoTarError

BLOCK = 512
_ZEROS = bytes(BLOCK)
_MOST_HEADER = 1 << 20
"""Bytes of long names and extended headers about one entry, as engines limit them; more than any path can have."""
_MOST_RECORDS = 256
"""In one extended header."""
_OF_RECORD = 32
"""For how many bytes one counts, because each takes time."""
_MOST_HEADERS = 16
"""About one entry. Writers need four at most."""
MOST_PATH = 4096
"""Bytes that Linux takes in one path, or in the target of a link. A longer one would only take memory."""
_MOST_NUMBER = 1 << 62
_KINDS = {b"0": "file", b"\0": "file", b"7": "file", b"S": "sparse", b"1": "hard", b"2": "link", b"5": "folder"}
_KINDS[b"6"] = "fifo"
_EXTENSIONS = {b"x": "", b"X": "", b"g": "", b"V": "", b"L": "path", b"K": "linkpath"}
"""Headers about other entries, and the names in POSIX of GNU's long names."""
_NUMBERS = ("size", "uid", "gid")
_USED = frozenset({b"path", b"linkpath", b"size", b"uid", b"gid", b"mtime", b"GNU.sparse.name"})
"""The kept fields of extended headers."""
_SPARSE = "GNU.sparse."


class TarEntry(NamedTuple):
    """The header of one entry."""

    name: str
    """As written, with bytes that are not UTF-8 as surrogates."""
    kind: str
    """`file`, `folder`, `link`, `hard` for a second name, `sparse` for a file with holes, `fifo`, or `other`."""
    mode: int
    uid: int
    gid: int
    size: int
    """Bytes of content that follow."""
    link: str
    mtime: float = 0.0
    """Seconds; known only to those who read strictly."""


def is_tar(block: bytes) -> bool:
    """Whether a first block is one of an archive; that of an empty one is all zeros."""
    return block == _ZEROS or (len(block) == BLOCK and (block[257:262] == b"ustar" or _has_checksum(block)))


def tar_entries(
    stream: ByteStream, first: bytes = b"", *, most_headers: int = 1 << 30, strict: bool = False
) -> Iterator[TarEntry]:
    """Yield each; the caller takes or skips exactly `size` bytes in between, and this the padding of the block.

    `most_headers`: bytes of all long names and extended headers together. `strict`: verify the checksum of each header,
    and read its time. An image has a hundred thousand of them, and the engine has verified it.
    """
    extended: dict[str, str] = {}
    left, headers = most_headers, 0
    block = first or stream.read(BLOCK)
    if strict and not block:
        raise CutShortError("it is empty")
    while block and block != _ZEROS:
        _verify(block, strict=strict)
        kind, size = block[156:157], _number(block[124:136])
        if kind in _EXTENSIONS:
            headers += 1
            left -= size + BLOCK
            if left < 0 or headers > _MOST_HEADERS:
                raise BeyondLimitError("it has too many extended headers")
            content = _extension(stream, size)
            left -= content.count(b"\n") * _OF_RECORD
            extended |= _said(content, kind)
        else:
            if kind == b"S":
                left -= _map_of_holes(stream, block)
            entry = _entry(block, kind, size, extended)
            if strict:
                entry = entry._replace(mtime=_time(block[136:148], extended.get("mtime")))
            extended, headers = {}, 0
            yield entry
            stream.skip(-entry.size % BLOCK)
        block = stream.read(BLOCK)


def _verify(block: bytes, *, strict: bool) -> None:
    if len(block) < BLOCK:
        raise CutShortError
    if (strict or block[257:262] != b"ustar") and not _has_checksum(block):
        raise NoTarError


def _map_of_holes(stream: ByteStream, block: bytes) -> int:
    """Pass over it, and return its length: the old sparse files of GNU have further blocks."""
    length, more = 0, block[482]
    while more:
        length += BLOCK
        if length > _MOST_HEADER:
            raise BeyondLimitError("it has a header of more than 1 MiB")
        more = stream.exactly(BLOCK)[504]
    return length


def _extension(stream: ByteStream, size: int) -> bytes:
    if size > _MOST_HEADER:
        raise BeyondLimitError("it has a header of more than 1 MiB")
    content = stream.exactly(size)
    stream.skip(-size % BLOCK)
    return content


def _said(content: bytes, kind: bytes) -> dict[str, str]:
    """The fields that a header sets for the entry after it."""
    if kind in b"xX":
        return dict(_records(content))
    name = _EXTENSIONS[kind]
    return {name: _text(content)} if name else {}


def _entry(block: bytes, kind: bytes, size: int, extended: dict[str, str]) -> TarEntry:
    name = _text(block[:100])
    if block[257:263] == b"ustar\0" and block[345]:
        name = f"{_text(block[345:500])}/{name}"
    link = _text(block[157:257])
    uid, gid = _number(block[108:116]), _number(block[116:124])
    what = _KINDS.get(kind, "other")
    if extended:
        name = extended.get("GNU.sparse.name") or extended.get("path", name)
        link = extended.get("linkpath", link)
        try:
            size, uid, gid = (
                int(extended.get(key, value)) for key, value in zip(_NUMBERS, (size, uid, gid), strict=True)
            )
        except ValueError as error:
            raise NoTarError from error
        if what == "file" and _SPARSE in extended:
            what = "sparse"
        if "\0" in name or "\0" in link:
            raise NoTarError
    if not 0 <= size < _MOST_NUMBER:
        raise NoTarError
    if len(name) > MOST_PATH or len(link) > MOST_PATH:
        raise BeyondLimitError("it has a name of more than 4,096 bytes")
    if kind in b"123456":  # these have no content, whatever their size says
        size = 0
    if what == "file" and name.endswith("/"):  # how archives without a kind for folders write them
        what = "folder"
    return TarEntry(name, what, _number(block[100:108]) & 0o7777, uid, gid, size, link)


def _number(field: bytes) -> int:
    if field[0] & 0x80:
        return int.from_bytes(field, signed=False) & ~(1 << (8 * len(field) - 1))
    digits = field.split(b"\0", 1)[0].strip()
    if not digits:
        return 0
    try:
        found = int(digits, 8)
    except ValueError as error:
        raise NoTarError from error
    if found < 0:  # a reader that believes it goes back, and never ends
        raise NoTarError
    return found


def _time(field: bytes, extended: str | None) -> float:
    """The time, or a default where it is damaged: that is not a reason to read nothing."""
    try:
        if extended is None:
            found = float(int.from_bytes(field, signed=True) if field[0] == 0xFF else _number(field))  # noqa: PLR2004 - negative
        else:
            found = float(extended)
    except (ValueError, OverflowError, NoTarError):
        return 0.0
    return found if abs(found) < _MOST_NUMBER else 0.0


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _records(content: bytes) -> Iterator[tuple[str, str]]:
    at = count = 0
    while at < len(content):
        length, space, _ = content[at : at + 12].partition(b" ")
        if not space or not length.isdigit() or int(length) <= len(length) + 1:
            raise NoTarError
        count += 1
        if count > _MOST_RECORDS:
            raise BeyondLimitError("it has a header with more than 256 records")
        key, _, value = content[at + len(length) + 1 : at + int(length)].removesuffix(b"\n").partition(b"=")
        if key in _USED:
            yield key.decode(), value.decode("utf-8", "surrogateescape")
        if key.startswith(b"GNU.sparse."):
            yield _SPARSE, ""
        at += int(length)


def _has_checksum(block: bytes) -> bool:
    try:
        said = _number(block[148:156])
    except NoTarError:
        return False
    return said == sum(block) - sum(block[148:156]) + 8 * 0x20
