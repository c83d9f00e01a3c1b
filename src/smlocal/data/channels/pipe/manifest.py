"""Augmented manifests: the chosen attributes of each line are sent, and for `…-ref` attributes the object they name."""

import json
import os
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from errno import EDQUOT, ENOSPC
from typing import Any, BinaryIO, NoReturn

from smlocal.data.channels.pipe.object_bytes import (
    Item,
    LocalObject,
    Streams,
    bad_line,
    changed,
    missing,
    no_room,
    of_s3,
    open_regular,
    unreadable,
)
from smlocal.data.sources.local_path import is_remote, local_path, longest_match
from smlocal.data.sources.s3.interface import S3Error, S3Object
from smlocal.errors import PathNotAllowedError
from smlocal.terms.channels import PipePlan
from smlocal.terms.listing import bucket_name, epoch_order, split_s3_uri
from smlocal.terms.rights import EVERYTHING, Rights

_REFERENCE = "-ref"
_FULL = {ENOSPC, EDQUOT}
_NOT_NAMES = {"", ".", ".."}


class Manifest:
    """An augmented manifest whose lines are all valid; the constructor raises `FeedError` for one that is not."""

    def __init__(self, plan: PipePlan, path: str) -> None:
        """Check every line. The file stays open; lines are read again when they are sent."""
        self._plan = plan
        self._uri = plan.listing.uri(plan.listing.paths[0])
        # One that stands for a manifest in S3 names objects of S3: a plain path could lead out of its bucket's folder.
        local = plan.listing.bucket_uri.startswith("file:")
        self._folder = os.path.dirname(path) if plan.names_files and local else None
        self._lines = Lines(_opened(path, self._uri, links=plan.rights.links or plan.listing.remote))
        self._remote = False
        try:
            self._check()
        except BaseException:
            self._lines.close()
            raise

    @property
    def remote(self) -> bool:
        """Whether any line names an object in S3."""
        return self._remote

    def epoch(self, number: int) -> Callable[[], Iterator[Item]]:
        """This host's lines in this epoch's order, attribute by attribute."""
        plan = self._plan
        count = len(self._lines) if plan.lines is None else min(plan.lines, len(self._lines))
        order = epoch_order(count, seed=plan.seed, epoch=number, shard=plan.shard)
        return lambda: (item for index in order for item in self._again(index))

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    def _check(self) -> None:
        for number, line in self._lines.read_all():
            try:
                items = self._items(line)
            except BadLineError as error:
                raise bad_line(self._uri, number, str(error)) from error
            self._remote = self._remote or any(isinstance(item, S3Object) for item in items)

    def _again(self, index: int) -> list[Item]:
        if not self._lines.unchanged:
            raise changed(self._uri)
        try:
            return self._items(self._lines.line(index))
        except BadLineError as error:
            raise changed(self._uri) from error
        except OSError as error:
            raise unreadable(self._uri, error) from error

    def _items(self, line: bytes) -> list[Item]:
        plan = self._plan
        return [
            self._referenced(value, name) if name.endswith(_REFERENCE) else text.encode()
            for name, (value, text) in zip(plan.attributes, values_of(line, plan.attributes), strict=True)
        ]

    def _referenced(self, value: object, name: str) -> Item:
        plan = self._plan
        return referenced(value, name=name, sources=plan.sources, rights=plan.rights, folder=self._folder)


def open_manifest(plan: PipePlan, *, spool: str, streams: Streams) -> Manifest:
    """Open and check a manifest; one in S3 is downloaded to `spool` first."""
    listing = plan.listing
    if not listing.remote:
        return Manifest(plan, f"{listing.root}/{listing.paths[0]}")
    path = f"{spool}/manifest"
    wanted = S3Object(bucket=listing.bucket, key=listing.key(0))
    try:
        _download(wanted, path, streams)
    except S3Error as error:
        raise of_s3(error) from error
    except OSError as error:
        if error.errno in _FULL:
            raise no_room(error) from error
        raise
    return Manifest(plan, path)


def _download(wanted: S3Object, path: str, streams: Streams) -> None:
    with streams.open([wanted]) as stream, open(path, "wb") as file:
        stream.open_next()
        while piece := stream.read():
            file.write(piece)


def _opened(path: str, uri: str, *, links: bool) -> BinaryIO:
    try:
        return os.fdopen(open_regular(path, links=links), "rb")
    except OSError as error:
        raise unreadable(uri, error) from error


def referenced(
    value: object, *, name: str, sources: Mapping[str, str], folder: str | None, rights: Rights = EVERYTHING
) -> LocalObject | S3Object:
    """The object that a `-ref` attribute names: a file if `sources` maps its URI, else an object in S3.

    A plain path or `file://` URI works too, relative to `folder`. It is None for a manifest that may name no files of
    this machine, such as one in S3. `BadLineError` for a value that is not a URI, `FeedError` for a key that no file
    below the mapped folder can have.
    """
    if not isinstance(value, str) or not value or "\0" in value:
        raise BadLineError(f"has no URI as '{name}'")
    if not is_remote(value):
        if folder is None:
            raise BadLineError(f"has no S3 URI of an object as '{name}': {value}")
        path = _path(value, folder, rights)
        return LocalObject(path=path, uri=f"file://{path}", links=rights.links)
    bucket_uri, key = split_s3_uri(value)
    bucket = bucket_name(bucket_uri)
    if not value.startswith("s3://") or not bucket or not key:
        raise BadLineError(f"has no S3 URI of an object as '{name}': {value}")
    match = longest_match(value, sources)
    if match is None:
        return S3Object(bucket=bucket, key=key)
    if not match.rest and match.key == value:
        return LocalObject(path=_path(match.value, "/", rights), uri=value, links=rights.links)
    if any(part in _NOT_NAMES for part in match.rest.split("/")):
        raise missing(value, f"Nothing below {match.value} can have this key.")
    return LocalObject(path=_path(match.value, "/", rights, match.rest), uri=value, links=rights.links)


def _path(text: str, folder: str, rights: Rights, rest: str = "") -> str:
    try:
        return local_path(text, folder, rights, rest)
    except PathNotAllowedError as error:
        raise BadLineError(f"cannot be used: {error.sentence}") from error


# Random access to the lines of a file, with twelve bytes of memory per line.

LONGEST = 16 << 20


class Lines:
    """Owns the file, which is at its start; blank lines do not count."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._status = os.fstat(file.fileno())
        self._starts = array("Q")
        self._lengths = array("I")

    def __len__(self) -> int:
        """The number of lines that `read_all` has read."""
        return len(self._starts)

    def read_all(self) -> Iterator[tuple[int, bytes]]:
        """Read every line, with its number counted from 1. A line of more than `LONGEST` bytes is cut."""
        start = 0
        number = 0
        while line := self._file.readline(LONGEST + 1):
            number += 1
            if not line.isspace():
                self._starts.append(start)
                self._lengths.append(len(line))
                yield number, line
            start += len(line)

    def line(self, index: int) -> bytes:
        """Read one of the lines again."""
        return os.pread(self._file.fileno(), self._lengths[index], self._starts[index])

    @property
    def unchanged(self) -> bool:
        """Whether the file has not changed since it was opened."""
        now = os.fstat(self._file.fileno())
        return (now.st_size, now.st_mtime_ns) == (self._status.st_size, self._status.st_mtime_ns)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


# The attributes of one line of an augmented manifest.

_CONSTANTS = {None: "null", False: "false", True: "true"}
_SPACE = re.compile(r"[ \t\r\n]*")


class BadLineError(Exception):
    """Completes the sentence `line 7 …`."""


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def values_of(line: bytes, names: Sequence[str]) -> list[tuple[Any, str]]:
    """The value of each attribute, and the text that is sent: a string itself, other values as the JSON in the line."""
    if len(line) > LONGEST:
        raise BadLineError(f"is longer than {LONGEST} bytes")
    try:
        text = line.decode()
        members = _DECODER.decode(text)
        if not isinstance(members, dict):
            raise BadLineError("is not a JSON object")
        for name in names:
            if name not in members:
                raise BadLineError(f"has no attribute '{name}'")
        texts = [_own_text(members[name]) for name in names]
        if None in texts:
            written = _written(text)
            texts = [written[name] for name in names]
    except (ValueError, RecursionError) as error:
        raise BadLineError("is not valid JSON") from error
    return [(members[name], own or "") for name, own in zip(names, texts, strict=True)]


def _own_text(value: object) -> str | None:
    """The text of a value that JSON can write in one way only: `_written` would take four times as long."""
    if isinstance(value, str):
        value.encode()  # JSON can contain half a surrogate pair, which is not valid text
        return value
    if value is None or isinstance(value, bool):
        return _CONSTANTS[value]
    return str(value) if isinstance(value, int) and value else None


def _written(text: str) -> dict[str, str]:
    """Every member of a valid object as written, strings as their value. If a name is repeated, the last one counts."""
    found: dict[str, str] = {}
    at = _skip(text, _skip(text, 0) + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        value, at = _DECODER.raw_decode(text, start)
        found[name] = value if isinstance(value, str) else text[start:at]
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    """The position after white space."""
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
