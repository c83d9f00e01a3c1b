"""Which objects a prefix selects, and their paths below the channel."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.data.sources.local_path import sizes_and_modes
from smlocal.terms.listing import Listing

if TYPE_CHECKING:
    from smlocal.data.sources.s3.interface import S3Object
else:  # folders have none
    S3Object = at_use("smlocal.data.sources.s3.interface", "S3Object")


class OutOfOrderError(Exception):
    """The server does not list in the byte order of the keys: sort them and start again."""


def select(objects: Iterable[S3Object], *, bucket_uri: str, prefix: str, mode: str) -> Listing | None:
    """The listing of what `prefix` selects; None if there are no objects. `OutOfOrderError` if they are not in order.

    A Pipe channel makes no files: there every key is valid, and folder markers, which have no bytes, are left out.
    """
    base, last = split_prefix(prefix)
    found = _Found(prefix=prefix, base=base)
    for each in objects:
        found.add(each)
    if not found.previous:
        return None
    names = tuple(found.names)
    if last and found.within:
        base, names = f"{prefix}/", tuple([name[len(last) + 1 :] for name in names])
    below = (key[len(base) : -1].removeprefix("/") for key in found.markers)
    directories = tuple(path for path in below if path)
    base, paths, keys = lay_out(base, names)
    if mode == "Pipe":
        directories, failure = (), None
    elif mode == "FastFile" and last and found.beside:
        failure = partial_prefix(prefix, found.beside)
    elif found.doubled:
        failure = double_slash(f"{bucket_uri}{found.doubled}")
    else:
        failure = first_invalid_key(bucket_uri, base, paths, keys, directories)
    listing = Listing(
        root="",
        bucket_uri=bucket_uri,
        prefix=prefix,
        key_base=base,
        paths=paths,
        keys=keys,
        sizes=found.sizes,
        etags=tuple(found.etags),
        total_bytes=sum(found.sizes),
        whole_tree=True,
        directories=directories,
    )
    return listing if failure is None else listing.failed(failure)


@dataclass(kw_only=True, slots=True)
class _Found:
    """The objects of a listing so far."""

    prefix: str
    base: str
    names: list[str] = field(default_factory=list)
    """Keys without `base`."""
    sizes: "array[int]" = field(default_factory=lambda: array("q"))
    etags: list[str] = field(default_factory=list)
    markers: list[str] = field(default_factory=list)
    previous: str = ""
    within: bool = True
    """Whether every key is in the folder that the prefix names."""
    beside: str = ""
    """The first key that is neither the prefix nor in its folder."""
    doubled: str = ""
    """The first key with `//`."""

    def add(self, each: S3Object) -> None:
        key, previous, end = each.key, self.previous, len(self.prefix)
        if key <= previous:
            if key == previous:
                return
            raise OutOfOrderError
        if self.markers and previous == self.markers[-1] and key.startswith(previous):
            self.markers.pop()  # the folder is made for the object in it
        self.previous = key
        if key[end : end + 1] != "/":
            self.within = False
            if key != self.prefix:
                self.beside = self.beside or key
        if "//" in key:
            self.doubled = self.doubled or key
        if is_marker(key, each.size):
            self.markers.append(key)
            return
        self.names.append(key[len(self.base) :])
        self.sizes.append(each.size or 0)
        self.etags.append(each.etag or "")


def split_prefix(prefix: str) -> tuple[str, str]:
    """The part of a prefix up to its last `/`, which every selected key loses, and the rest."""
    cut = prefix.rfind("/") + 1
    return prefix[:cut], prefix[cut:]


def names_folder(prefix: str, keys: Iterable[str]) -> bool:
    """Whether all keys are in the folder that the prefix names: then they lose that folder too."""
    return all(key.startswith(f"{prefix}/") for key in keys)


def is_marker(key: str, size: int | None) -> bool:
    """Whether an object only marks a folder. One with bytes does not, and cannot be a file either."""
    return key.endswith("/") and not size


def lay_out(base: str, names: Sequence[str]) -> tuple[str, Sequence[str], Sequence[str]]:
    """Base, paths and keys for the names after `base`; paths lose a leading `/`, keys are given only if they differ."""
    leading = sum(name.startswith("/") for name in names)
    if not leading:
        return base, names, ()
    if leading == len(names):
        return f"{base}/", tuple([name[1:] for name in names]), ()
    return base, tuple([name.removeprefix("/") for name in names]), tuple([f"{base}{name}" for name in names])


def check_local_paths(prefix: str, bucket_uri: str, key_base: str, paths: Sequence[str], mode: str) -> str | None:
    """Why local files cannot be delivered for a prefix; None if they can."""
    if mode == "Pipe":
        return None
    if mode == "FastFile" and split_prefix(prefix)[1] and not key_base.startswith(f"{prefix}/"):
        keys = (f"{key_base}{path}" for path in paths)
        beside = next((key for key in keys if key != prefix and not key.startswith(f"{prefix}/")), None)
        if beside is not None:
            return partial_prefix(prefix, beside)
    if "//" in key_base and paths:
        return double_slash(f"{bucket_uri}{key_base}{paths[0]}")
    return None


# Keys that cannot become files below a channel, with the text that follows `Data download failed:`.
#
# The texts for `//` and for partial prefixes are the service's own; the others are in its style. None of these keys
# may ever be written: a channel's data must stay in its folder.

_FAILED = "Failed to download data."
_INVALID_PART = regex(r"(?:^|/)(\.{0,2})(?:/|$)")
_LONGEST = 255
"""Bytes of a file name, on every common file system."""
_SHORT = _LONGEST // 4
"""A name of this many characters has no more bytes than the limit."""


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
    """The mistake in the first key that cannot be a file below the channel, or in two that need the same path."""
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


# A sample of what a channel selects: its first objects.


def first_objects(listing: Listing, count: int) -> Listing:
    """The first `count` objects in listing order; the listing itself if it has no more."""
    left_out = len(listing.paths) - count
    if left_out <= 0:
        return listing
    sizes = listing.sizes[:count]
    part = replace(
        listing,
        paths=listing.paths[:count],
        keys=listing.keys[:count],
        sizes=sizes,
        etags=listing.etags[:count],
        total_bytes=sum(sizes) if sizes else None,
        whole_tree=False,
        directories=(),
        left_out=left_out,
    )
    if listing.remote:
        return part
    files = [part.file(index)[len(part.root) + 1 :] for index in range(count)]
    total, unlike = sizes_and_modes(part.root, files)
    return replace(part, total_bytes=total, unlike_service_modes=unlike)
