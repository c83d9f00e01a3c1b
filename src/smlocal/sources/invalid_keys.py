"""Keys that cannot become files below a channel, with the text that follows `Data download failed:`.

The texts for `//` and for partial prefixes are the service's own; the others are in its style. None of these keys may
ever be written: a channel's data must stay in its folder.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

_FAILED = "Failed to download data."
_INVALID_PART = re.compile(r"(?:^|/)(\.{0,2})(?:/|$)")
_LONGEST = 255
"""Bytes of a file name, on every common file system."""
_SHORT = _LONGEST // 4
"""A name of so many characters has no more bytes than that."""


def partial_prefix(prefix: str, key: str) -> str:
    """In FastFile mode a prefix must end where a name ends."""
    return (
        f"{_FAILED} For FastFile mode, partial S3 prefix is not supported. S3 prefix has to end with a full file or "
        "folder. Add a trailing '/' to the S3 prefix if it ends with a folder name that is also a prefix for other "
        f"folders. Current S3 prefix: [{prefix}], found S3 object: [{key}]."
    )


def double_slash(uri: str) -> str:
    """No folder has an empty name."""
    return f"{_FAILED} S3 key: {_shown(uri)} has an illegal char sub-sequence '//' in it"


def first_invalid_key(
    bucket_uri: str, key_base: str, paths: Sequence[str], keys: Sequence[str], directories: Sequence[str] = ()
) -> str | None:
    """What is wrong with the first key that cannot be a file below the channel, or with two that need the same path."""
    for index, path in enumerate(paths):
        wrong = invalid_part(path)
        if wrong is not None:
            key = keys[index] if keys else f"{key_base}{path}"
            return f"{_FAILED} S3 key: {_shown(bucket_uri + key)} has {wrong} in it"
    for path in directories:
        wrong = invalid_part(path)
        if wrong is not None:
            return f"{_FAILED} S3 key: {_shown(f'{bucket_uri}{key_base}{path}/')} has {wrong} in it"
    clash = first_conflict(paths, directories)
    if clash is None:
        return None
    first, second = (f"{bucket_uri}{key}" for key in _keys(key_base, paths, keys, clash))
    return f"{_FAILED} S3 key: {_shown(second)} needs a path that S3 key: {_shown(first)} has already"


def invalid_part(path: str) -> str | None:
    """Why a path cannot be that of a file below a folder; None if it can."""
    found = _INVALID_PART.search(path)
    if found is not None:
        return f"an illegal path component '{found[1]}'" if found[1] else "an empty path component"
    if "\0" in path:
        return r"an illegal char '\0'"
    if len(path) > _SHORT and any(len(part.encode(errors="surrogateescape")) > _LONGEST for part in path.split("/")):
        return f"a path component of more than {_LONGEST} bytes"
    return None


def _keys(key_base: str, paths: Sequence[str], keys: Sequence[str], clash: tuple[str, str]) -> Iterator[str]:
    start = 0
    for path in clash:
        if keys and not path.endswith("/"):
            index = paths.index(path, start)
            start = index + 1 if clash[0] == clash[1] else 0
            yield keys[index]
        else:
            yield f"{key_base}{path}"


def _shown(uri: str) -> str:
    return uri.replace("\0", r"\0")


def first_conflict(paths: Sequence[str], directories: Iterable[str] = ()) -> tuple[str, str] | None:
    """Two paths that cannot both exist: equal ones, or a file where the other needs a folder. Folders end with `/`.

    In sorted order, everything that begins with a file's path comes after it, maybe with others between.
    """
    above: list[str] = []
    for path in sorted([*paths, *(f"{directory}/" for directory in directories)]):
        while above and not path.startswith(above[-1]):
            above.pop()
        for file in above:
            if path == file or path[len(file) : len(file) + 1] == "/":
                return file, path
        above.append(path)
    return None
