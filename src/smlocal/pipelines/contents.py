"""What lies in the folders that a step reads, as one digest for each location: for `Local.Cache: contents`."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from smlocal.sagemaker.pipelines.values import ValueUnknownError

_LOCATION: Final = "S3Uri"
_PIECE: Final = 1 << 20


def contents_of(keys: Mapping[str, Any], path_of: Callable[[str], str]) -> dict[str, str]:
    """The digest of each location in the values that the cache compares, if it is on this machine."""
    found: dict[str, str] = {}
    for uri in dict.fromkeys(_locations(keys)):
        try:
            path = path_of(uri)
        except ValueUnknownError:
            continue
        if os.path.exists(path):
            found[uri] = _digest(path)
    return found


def _locations(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            if name == _LOCATION and isinstance(each, str):
                yield each
            else:
                yield from _locations(each)
    elif isinstance(value, list):
        for each in value:
            yield from _locations(each)


def _digest(path: str) -> str:
    """Of names and bytes, whatever the times of the files are. What cannot be read counts as another content."""
    digest = hashlib.sha256()
    for file in sorted(_files(path)):
        digest.update(f"{os.path.relpath(file, path)}\0".encode("utf-8", "surrogateescape"))
        try:
            with open(file, "rb") as opened:
                while piece := opened.read(_PIECE):
                    digest.update(piece)
        except OSError as error:
            digest.update(f"{error.errno}".encode())
        digest.update(b"\0")
    return digest.hexdigest()


def _files(path: str) -> Iterator[str]:
    """Regular files; a FIFO would be waited for."""
    if os.path.isfile(path):
        yield path
    for folder, _, names in os.walk(path):
        yield from (each for each in (os.path.join(folder, name) for name in names) if os.path.isfile(each))
