"""The entries of a tar archive as it streams by, at a tenth of what the standard library takes for each."""

from collections.abc import Iterator
from typing import NamedTuple

from smlocal.check.reading.stream import CutShortError, Stream

BLOCK = 512
_ZEROS = bytes(BLOCK)
_MOST_HEADER = 4 << 20
"""Bytes of a long name or of extended headers; more than any path can have."""
_MOST_PATH = 4096
"""Bytes that Linux takes in one path. A longer one would only take memory, a folder for each of its parts."""
_KINDS = {b"0": "file", b"\0": "file", b"7": "file", b"S": "file", b"1": "hard", b"2": "link", b"5": "folder"}
_EXTENSIONS = {b"x": "", b"X": "", b"g": "", b"V": "", b"L": "path", b"K": "linkpath"}
"""Headers about other entries, and what the long names of GNU are called in those of POSIX."""
_NUMBERS = ("size", "uid", "gid")


class NoTarError(Exception):
    """What should be a tar archive is none."""


class TarEntry(NamedTuple):
    """The header of one entry."""

    name: str
    """As written, with bytes that are not UTF-8 as surrogates."""
    kind: str
    """`file`, `folder`, `link`, `hard` for a second name, or `other`."""
    mode: int
    uid: int
    gid: int
    size: int
    """Bytes of content that follow."""
    link: str


def is_tar(block: bytes) -> bool:
    """Whether a first block is one of an archive; that of an empty one is all zeros."""
    return block == _ZEROS or (len(block) == BLOCK and (block[257:262] == b"ustar" or _has_checksum(block)))


def tar_entries(stream: Stream, first: bytes = b"") -> Iterator[TarEntry]:
    """Yield each; whoever iterates takes or skips exactly `size` bytes in between, and this what fills the block."""
    extended: dict[str, str] = {}
    while True:
        block = first or stream.read(BLOCK)
        first = b""
        if not block or block == _ZEROS:
            return
        if len(block) < BLOCK:
            raise CutShortError
        if block[257:262] != b"ustar" and not _has_checksum(block):
            raise NoTarError
        kind, size = block[156:157], _number(block[124:136])
        if kind in _EXTENSIONS:
            extended |= _extension(stream, kind, size)
            continue
        if kind == b"S":  # the old sparse files of GNU: the map goes on in further blocks
            more = block[482]
            while more:
                more = stream.exactly(BLOCK)[504]
        entry = _entry(block, kind, size, extended)
        extended = {}
        yield entry
        stream.skip(-entry.size % BLOCK)


def _extension(stream: Stream, kind: bytes, size: int) -> dict[str, str]:
    """What a header says about the entry after it."""
    if size > _MOST_HEADER:
        raise NoTarError
    content = stream.exactly(size)
    stream.skip(-size % BLOCK)
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
    if extended:
        name = extended.get("GNU.sparse.name") or extended.get("path", name)
        link = extended.get("linkpath", link)
        try:
            size, uid, gid = (
                int(extended.get(key, value)) for key, value in zip(_NUMBERS, (size, uid, gid), strict=True)
            )
        except ValueError as error:
            raise NoTarError from error
    if size < 0 or len(name) > _MOST_PATH:
        raise NoTarError
    what = _KINDS.get(kind, "other")
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
        return int(digits, 8)
    except ValueError as error:
        raise NoTarError from error


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _records(content: bytes) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(content):
        length, space, _ = content[at : at + 12].partition(b" ")
        if not space or not length.isdigit() or int(length) <= len(length) + 1:
            raise NoTarError
        record = content[at + len(length) + 1 : at + int(length)].removesuffix(b"\n")
        key, _, value = record.partition(b"=")
        yield key.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape")
        at += int(length)


def _has_checksum(block: bytes) -> bool:
    try:
        said = _number(block[148:156])
    except NoTarError:
        return False
    return said == sum(block) - sum(block[148:156]) + 8 * 0x20
